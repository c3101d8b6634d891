//! Only proved machines run: the interface through which the runtime asks if `check` accepts a machine.
//!
//! The runtime does not know the checker. Its creator supplies a [`Prover`], and
//! [`Runtime::start`](crate::Runtime::start) and [`fork`](crate::fork) ask it before a run is created, so that no
//! caller can forget to.

use std::{fmt, path::Path, sync::Arc};

use interlock_journal::{Created, Engine, Entry, Head};

use crate::{Error, LoadedMachine, Result};

/// Decides which machines may run.
pub trait Prover: fmt::Debug + Send + Sync {
    /// Returns the reasons for which `check` refuses this machine for a run in this directory; empty if it is proved.
    /// May take seconds, so it is called on a separate thread.
    fn refusals(&self, loaded: &LoadedMachine, folder: &Path) -> Vec<String>;
}

/// Accepts every machine. For tests and measurements of the runtime itself.
#[derive(Clone, Copy, Debug)]
pub struct AnyMachine;

impl Prover for AnyMachine {
    fn refusals(&self, _: &LoadedMachine, _: &Path) -> Vec<String> {
        Vec::new()
    }
}

/// Asks the prover on a thread that executes no runs. Returns the refusals to record.
pub(crate) async fn ask(
    prover: &Arc<dyn Prover>,
    loaded: &Arc<LoadedMachine>,
    folder: &Path,
    accepts_unproved: bool,
) -> Result<Option<Vec<String>>> {
    let (asked, machine, place) = (Arc::clone(prover), Arc::clone(loaded), folder.to_owned());
    let refusals = tokio::task::spawn_blocking(move || asked.refusals(&machine, &place)).await;
    // A prover that panicked has proved nothing.
    let refusals = refusals.unwrap_or_else(|error| vec![format!("the proof failed: {error}")]);
    accept(loaded, refusals, accepts_unproved)
}

/// Turns refusals into an error unless the caller accepts an unproved machine. In that case they are returned to be
/// recorded, even if there are none, so that the run's children may be unproved as well.
pub(crate) fn accept(
    loaded: &LoadedMachine,
    refusals: Vec<String>,
    accepts_unproved: bool,
) -> Result<Option<Vec<String>>> {
    match (accepts_unproved, refusals.is_empty()) {
        (true, _) => Ok(Some(refusals)),
        (false, true) => Ok(None),
        (false, false) => Err(Error::Unproved { machine: loaded.chart().id.clone(), refusals }),
    }
}

/// Returns the content of a run's first record, if it is a `Created` entry.
pub fn created(engine: &dyn Engine, head: &Head) -> Result<Option<Created>> {
    let Some(first) = engine.records(head.key, 1, 1)?.into_iter().next() else { return Ok(None) };
    match engine.entry(&first)? {
        Entry::Created(created) => Ok(Some(created)),
        _ => Ok(None),
    }
}
