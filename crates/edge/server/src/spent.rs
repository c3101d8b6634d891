//! The usage of runs so far, kept in memory, so that only the new records of a run are read.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use interlock_follow::{Spent, Tally};
use interlock_journal::{Engine, Filter, Head, RunKey};
use serde::Serialize;

use crate::problem::Result;

/// The most runs that are remembered.
const RUNS_MAX: usize = 2_000;

/// The most child runs of a run that are added up.
const CHILDREN_MAX: usize = 500;

/// Tokens and cost of child runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ChildrenSpent {
    /// The number of child runs.
    pub(crate) runs: u64,
    /// True if there are more child runs than were counted.
    pub(crate) more: bool,
    /// The tokens and the cost of all of them.
    #[serde(flatten)]
    pub(crate) spent: Spent,
}

/// The counts of the runs that were asked for.
#[derive(Default)]
pub(crate) struct AllSpent(Mutex<HashMap<RunKey, Tally>>);

impl AllSpent {
    /// Returns the count of a run so far.
    pub(crate) fn of(&self, engine: &dyn Engine, head: &Head) -> Result<Tally> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tally = known().get(&head.key).cloned().unwrap_or_default();
        if tally.seq != head.seq {
            tally.count(engine, head)?;
            let mut known = known();
            if known.len() >= RUNS_MAX {
                known.clear();
            }
            known.insert(head.key, tally.clone());
        }
        Ok(tally)
    }

    /// Returns the tokens and the cost of the child runs of a run so far, of their child runs, and so on.
    pub(crate) fn of_children(&self, engine: &dyn Engine, head: &Head) -> Result<ChildrenSpent> {
        let filter = Filter { prefix: Some(format!("{}.", head.name)), at_most: CHILDREN_MAX, ..Filter::default() };
        let named = engine.list(&filter)?;
        let mut total = ChildrenSpent { more: named.len() == CHILDREN_MAX, ..ChildrenSpent::default() };
        for child in interlock_follow::descendants(&head.name, &named) {
            total.runs += 1;
            total.spent.add(self.of(engine, child)?.spent());
        }
        Ok(total)
    }
}
