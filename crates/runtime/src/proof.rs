//! Only proved machines run: the seam through which the runtime asks whether `check` accepts a machine.
//!
//! The runtime does not know the checker. Whoever composes it supplies a [`Prover`], and [`Runtime::start`](crate::Runtime::start) and
//! [`fork`](crate::fork) ask it before there is a run, so that no caller can forget to.

use std::{fmt, path::Path, sync::Arc};

use interlock_journal::{Created, Engine, Entry, Head};

use crate::{Error, Loaded, Result};

/// Decides whether machines may run.
pub trait Prover: fmt::Debug + Send + Sync {
    /// The reasons for which `check` refuses this machine for a run in this folder; none if it is proved. May take seconds, and runs on
    /// a thread of its own.
    fn refusals(&self, loaded: &Loaded, folder: &Path) -> Vec<String>;
}

/// Accepts every machine: for tests and measurements of the runtime itself.
#[derive(Clone, Copy, Debug)]
pub struct AnyMachine;

impl Prover for AnyMachine {
    fn refusals(&self, _: &Loaded, _: &Path) -> Vec<String> {
        Vec::new()
    }
}

/// Asks the prover away from the threads that move runs. Returns what is to be recorded.
pub(crate) async fn ask(
    prover: &Arc<dyn Prover>,
    loaded: &Arc<Loaded>,
    folder: &Path,
    accepts_unproved: bool,
) -> Result<Option<Vec<String>>> {
    let (asked, machine, place) = (Arc::clone(prover), Arc::clone(loaded), folder.to_owned());
    let refusals = tokio::task::spawn_blocking(move || asked.refusals(&machine, &place)).await;
    // A prover that panicked has proved nothing.
    let refusals = refusals.unwrap_or_else(|error| vec![format!("the proof did not end: {error}")]);
    accept(loaded, refusals, accepts_unproved)
}

/// Turns refusals into an error unless the caller accepts an unproved machine; then they are to be recorded, even if there are none, so
/// that the run's children may be unproved as well.
pub(crate) fn accept(loaded: &Loaded, refusals: Vec<String>, accepts_unproved: bool) -> Result<Option<Vec<String>>> {
    match (accepts_unproved, refusals.is_empty()) {
        (true, _) => Ok(Some(refusals)),
        (false, true) => Ok(None),
        (false, false) => Err(Error::Unproved { machine: loaded.chart().id.clone(), refusals }),
    }
}

/// A run's first record, if it says how the run began.
pub fn created(engine: &dyn Engine, head: &Head) -> Result<Option<Created>> {
    let Some(first) = engine.records(head.key, 1, 1)?.into_iter().next() else { return Ok(None) };
    match engine.entry(&first)? {
        Entry::Created(created) => Ok(Some(created)),
        _ => Ok(None),
    }
}
