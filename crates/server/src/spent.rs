//! The tokens and the cost of a run so far, from its judgements and the turns of its coding agents, and its latest diff.
//!
//! Only records with evidence are read, and of a run that has grown only those that are new.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use interlock_follow::spent::{CHILDREN_MAX, Spent, Tally, descendants};
use interlock_journal::{Engine, Entry, Evidence, Filter, Head, RunKey};
use serde::Serialize;

use crate::problem::Result;

/// The number of records that are read at a time.
const CHUNK: usize = 500;

/// The most runs that are remembered.
const RUNS_MAX: usize = 2_000;

/// The media type of a diff.
const DIFF: &str = "text/x-diff";

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

/// A run up to a record.
#[derive(Clone, Debug, Default)]
struct Counted {
    seq: u64,
    tally: Tally,
    diff: Option<Evidence>,
}

impl Counted {
    fn count(&mut self, engine: &dyn Engine, head: &Head) -> Result<()> {
        let numbers: Vec<u64> = engine.evidence_index(head.key)?.into_iter().map(|(seq, _)| seq).collect();
        let known = self.seq;
        let mut wanted = numbers.into_iter().filter(|seq| *seq > known && *seq <= head.seq).peekable();
        while let Some(&from) = wanted.peek() {
            for record in engine.records(head.key, from, CHUNK)? {
                if wanted.peek() == Some(&record.seq) {
                    while wanted.next_if_eq(&record.seq).is_some() {}
                    self.add(engine, &engine.entry(&record)?);
                }
            }
            // A record that the index names and the store lacks is skipped.
            while wanted.next_if_eq(&from).is_some() {}
        }
        self.seq = head.seq;
        Ok(())
    }

    fn add(&mut self, engine: &dyn Engine, entry: &Entry) {
        self.tally.add(engine, entry);
        self.diff = entry.evidence().iter().rfind(|file| file.media == DIFF).cloned().or(self.diff.take());
    }
}

/// The counts of the runs that were asked for.
#[derive(Default)]
pub(crate) struct AllSpent(Mutex<HashMap<RunKey, Counted>>);

impl AllSpent {
    /// Returns the tokens and the cost of a run so far, and the latest diff among its evidence.
    pub(crate) fn of(&self, engine: &dyn Engine, head: &Head) -> Result<(Spent, Option<Evidence>)> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counted = known().get(&head.key).cloned().unwrap_or_default();
        if counted.seq != head.seq {
            counted.count(engine, head)?;
            let mut known = known();
            if known.len() >= RUNS_MAX {
                known.clear();
            }
            known.insert(head.key, counted.clone());
        }
        Ok((counted.tally.spent, counted.diff))
    }

    /// Returns the tokens and the cost of the child runs of a run so far, of their child runs, and so on.
    pub(crate) fn of_children(&self, engine: &dyn Engine, head: &Head) -> Result<ChildrenSpent> {
        let filter = Filter { prefix: Some(format!("{}.", head.name)), at_most: CHILDREN_MAX, ..Filter::default() };
        let named = engine.list(&filter)?;
        let mut total = ChildrenSpent { more: named.len() == CHILDREN_MAX, ..ChildrenSpent::default() };
        for child in descendants(&head.name, &named) {
            total.runs += 1;
            total.spent.add(self.of(engine, child)?.0);
        }
        Ok(total)
    }
}
