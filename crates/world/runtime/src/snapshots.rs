//! The interface to the workspace: snapshots to which writes can be undone.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use interlock_activity::Outcome;
use interlock_journal::Evidence;
use interlock_workspace::{Changes, Workspace};

use crate::{dispatch::blocking, recovery, runtime::Shared};

/// Takes and restores snapshots of a directory.
pub trait Snapshots: Send + Sync + 'static {
    /// Takes a snapshot of the directory and returns its name, or `None` if no snapshots are taken here. May block.
    fn take(&self, folder: &Path, run: &str) -> Result<Option<String>, Untaken>;

    /// Undoes the writes of interrupted attempts, and nothing else. Takes a snapshot of the directory first. May block.
    fn recover(&self, cut_off: &CutOff) -> Result<Recovered, String>;

    /// Returns the changes since a snapshot as JSON, or `None` if there are none. Also keeps the current content. May
    /// block.
    fn changes(&self, _folder: &Path, _run: &str, _snapshot: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    /// Returns the workspace with which writes can be undone, if there is one.
    fn workspace(&self) -> Option<&Workspace> {
        None
    }
}

/// Attempts of a run that were interrupted while they may have written.
#[derive(Clone, Debug)]
pub struct CutOff {
    /// The directory in which the run works.
    pub folder: PathBuf,
    /// The name of the run.
    pub run: Arc<str>,
    /// The snapshots taken before these attempts.
    pub before: Vec<String>,
    /// The recorded changes of the run's other attempts, oldest first.
    pub others: Vec<Changes>,
}

/// The result of a recovery.
#[derive(Clone, Debug)]
pub enum Recovered {
    /// The changes of the attempts were undone.
    PutBack {
        /// The result as a sentence for people.
        said: String,
    },
    /// Nothing was changed: a person must decide about the files.
    Question {
        /// The files and the reason, as text for people.
        why: String,
        /// The changes that the attempts may have made, as JSON.
        changes: Vec<u8>,
    },
}

/// Takes no snapshots, so that no write can be undone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSnapshots;

impl Snapshots for NoSnapshots {
    fn take(&self, _: &Path, _: &str) -> Result<Option<String>, Untaken> {
        Ok(None)
    }

    fn recover(&self, _: &CutOff) -> Result<Recovered, String> {
        Err("nothing was stored".into())
    }
}

/// The reason why a snapshot could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untaken {
    /// The disk failed. The run stops at its last record, as with any other failed write of the store.
    Disk(String),
    /// The directory cannot be kept, or git is missing: the machine receives an error.
    Folder(String),
}

/// Takes snapshots of directories with git.
#[derive(Clone, Debug)]
pub struct GitSnapshots(Workspace);

impl GitSnapshots {
    /// Creates it with `home`, the journal's directory, as the place for its own data.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        GitSnapshots(Workspace::new(home))
    }
}

impl Snapshots for GitSnapshots {
    fn take(&self, folder: &Path, run: &str) -> Result<Option<String>, Untaken> {
        self.0.take(folder, run).map(Some).map_err(|error| match error {
            interlock_workspace::Error::Io { .. } => Untaken::Disk(error.to_string()),
            error => Untaken::Folder(error.to_string()),
        })
    }

    fn recover(&self, cut_off: &CutOff) -> Result<Recovered, String> {
        recovery::recover(&self.0, cut_off)
    }

    fn changes(&self, folder: &Path, run: &str, snapshot: &str) -> Result<Option<Vec<u8>>, String> {
        let changes = self.0.changes_since(folder, run, snapshot).map_err(|error| error.to_string())?;
        changes.map(|changes| serde_json::to_vec(&changes).map_err(|error| error.to_string())).transpose()
    }

    fn workspace(&self) -> Option<&Workspace> {
        Some(&self.0)
    }
}

/// The name of the evidence that lists the changes of a write.
pub(crate) const CHANGES: &str = "changes";

/// Adds the changes of a finished attempt to its outcome as evidence. If they cannot be determined, the evidence gives
/// the reason.
pub(crate) async fn with_changes(shared: Weak<Shared>, at: Before, outcome: Outcome) -> Outcome {
    let Some(shared) = shared.upgrade() else { return outcome };
    let kept = blocking(&shared, move |shared| {
        let changes = match shared.snapshots.changes(&at.folder, &at.run, &at.snapshot) {
            Ok(changes) => changes,
            Err(why) => {
                // The snapshot shows people what the attempt began with.
                let unknown = serde_json::json!({ "unknown": shared.redactor.text(&why), "before": at.snapshot });
                Some(unknown.to_string().into_bytes())
            }
        };
        changes.map_or(Ok(Vec::new()), |changes| keep(shared, &changes)).map_err(|error| error.to_string())
    });
    match kept.await {
        Ok(evidence) => outcome.with(evidence),
        Err(why) => Outcome::not_stored(format!("the changes of an attempt could not be stored: {why}")),
    }
}

/// Stores the changes of an attempt, and any damage to the user's repository as separate evidence, so that `show` lists
/// it.
fn keep(shared: &Shared, changes: &[u8]) -> interlock_journal::Result<Vec<Evidence>> {
    let breaches = serde_json::from_slice::<Changes>(changes).map(|changes| changes.breaches).unwrap_or_default();
    let put = |name: &str, content: &[u8]| shared.engine.evidence().put(name, "application/json", content);
    let mut kept = vec![put(CHANGES, changes)?];
    if !breaches.is_empty() {
        let said = breaches.iter().map(|said| serde_json::json!({ "rule": "git.damaged", "said": said }));
        kept.push(put("breaches", serde_json::Value::Array(said.collect()).to_string().as_bytes())?);
    }
    Ok(kept)
}

/// The workspace before an attempt, as its snapshot holds it.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) folder: PathBuf,
    pub(crate) run: Arc<str>,
    pub(crate) snapshot: String,
}
