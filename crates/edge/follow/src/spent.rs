//! The tokens and the cost of a run with those of its child runs.

use interlock_journal::{Engine, Filter, Head};
use interlock_runtime::Result;

pub use crate::tally::Spent;
use crate::{Tally, descendants};

/// The most child runs of a run that are added up.
const CHILDREN_MAX: usize = 500;

/// Returns the tokens and the cost of a run so far, with those of its child runs.
pub fn of_run(engine: &dyn Engine, head: &Head) -> Result<Spent> {
    let filter = Filter { prefix: Some(format!("{}.", head.name)), at_most: CHILDREN_MAX, ..Filter::default() };
    let named = engine.list(&filter)?;
    let mut total = Spent::default();
    for run in std::iter::once(head).chain(descendants(&head.name, &named)) {
        total.add(Tally::of(engine, run)?.spent());
    }
    Ok(total)
}
