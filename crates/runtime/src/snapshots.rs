//! The seam to the workspace: what a write can be taken back to.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use interlock_activity::Outcome;
use interlock_journal::Evidence;
use interlock_workspace::{Changes, Workspace};

use crate::{dispatch::blocking, recovery, runtime::Shared};

/// Keeps and restores the content of a folder.
pub trait Snapshots: Send + Sync + 'static {
    /// The content of the folder as it is, kept under the name that is returned; nothing where the folder cannot be kept. May block.
    fn take(&self, folder: &Path, run: &str) -> Result<Option<String>, Untaken>;

    /// Takes back what attempts that were cut off have written, and nothing else; first keeps the folder as it is. May block.
    fn recover(&self, cut_off: &CutOff) -> Result<Recovered, String>;

    /// What changed since a snapshot, as JSON; nothing where nothing did. What is there now is kept as well. May block.
    fn changes(&self, _folder: &Path, _run: &str, _snapshot: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    /// What writes can be taken back with, where that can be done.
    fn workspace(&self) -> Option<&Workspace> {
        None
    }
}

/// Attempts of a run that were cut off while they may have written.
#[derive(Clone, Debug)]
pub struct CutOff {
    /// The folder the run works in.
    pub folder: PathBuf,
    /// The run.
    pub run: Arc<str>,
    /// The snapshots they began with.
    pub before: Vec<String>,
    /// The recorded changes of the run's other attempts, oldest first.
    pub others: Vec<Changes>,
}

/// The result of a recovery.
#[derive(Clone, Debug)]
pub enum Recovered {
    /// Their changes are taken back.
    PutBack {
        /// In words.
        said: String,
    },
    /// Nothing was touched: a person has to say what becomes of the files.
    Question {
        /// The files and the reason, in words.
        why: String,
        /// The changes that the attempts may have made, as JSON.
        changes: Vec<u8>,
    },
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSnapshots;

impl Snapshots for NoSnapshots {
    fn take(&self, _: &Path, _: &str) -> Result<Option<String>, Untaken> {
        Ok(None)
    }

    fn recover(&self, _: &CutOff) -> Result<Recovered, String> {
        Err("nothing was kept".into())
    }
}

/// The reason for which a snapshot could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untaken {
    /// The disk failed. The run stops where its last record is, as with any other write of the store.
    Disk(String),
    /// The folder cannot be kept, or git is missing: the machine hears of it.
    Folder(String),
}

/// Keeps folders with git.
#[derive(Clone, Debug)]
pub struct GitSnapshots(Workspace);

impl GitSnapshots {
    /// With what it needs for that under a folder of its own: the journal's.
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

/// What the evidence is called that says what a write changed.
pub(crate) const CHANGES: &str = "changes";

/// An attempt that could write has ended: what it changed becomes evidence of its outcome. Where that cannot be told, the evidence says why.
pub(crate) async fn with_changes(shared: Weak<Shared>, at: Before, outcome: Outcome) -> Outcome {
    let Some(shared) = shared.upgrade() else { return outcome };
    let kept = blocking(&shared, move |shared| {
        let changes = match shared.snapshots.changes(&at.folder, &at.run, &at.snapshot) {
            Ok(changes) => changes,
            Err(why) => Some(serde_json::json!({ "unknown": shared.redactor.text(&why) }).to_string().into_bytes()),
        };
        changes.map_or(Ok(Vec::new()), |changes| keep(shared, &changes)).map_err(|error| error.to_string())
    });
    match kept.await {
        Ok(evidence) => outcome.with(evidence),
        Err(why) => Outcome::not_stored(format!("what an attempt changed could not be kept: {why}")),
    }
}

/// Stores the changes of an attempt, and damage to the user's repository as evidence of its own, so that `show` lists it.
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

/// A workspace before an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) folder: PathBuf,
    pub(crate) run: Arc<str>,
    pub(crate) snapshot: String,
}
