//! The seam to the workspace: what a write can be taken back to.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use interlock_activity::{Outcome, code};
use interlock_workspace::Workspace;

use crate::{dispatch::blocking, runtime::Shared};

/// Keeps and restores the content of a folder.
pub trait Snapshots: Send + Sync + 'static {
    /// The content of the folder as it is, kept under the name that is returned; nothing where the folder cannot be kept. May block.
    fn take(&self, folder: &Path, run: &str) -> Result<Option<String>, String>;

    /// Makes the folder what it was. May block. Returns what was done, in words.
    fn restore(&self, folder: &Path, snapshot: &str) -> Result<String, String>;

    /// What changed since a snapshot, as JSON; nothing where nothing did. What is there now is kept as well. May block.
    fn changes(&self, _folder: &Path, _run: &str, _snapshot: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    /// What writes can be taken back with, where that can be done.
    fn workspace(&self) -> Option<&Workspace> {
        None
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSnapshots;

impl Snapshots for NoSnapshots {
    fn take(&self, _: &Path, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn restore(&self, _: &Path, _: &str) -> Result<String, String> {
        Err("nothing was kept".into())
    }
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
    fn take(&self, folder: &Path, run: &str) -> Result<Option<String>, String> {
        self.0.take(folder, run).map(Some).map_err(|error| error.to_string())
    }

    fn restore(&self, folder: &Path, snapshot: &str) -> Result<String, String> {
        self.0.restore(folder, snapshot).map(|done| done.to_string()).map_err(|error| error.to_string())
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
        let keep = |changes: Vec<u8>| shared.engine.evidence().put(CHANGES, "application/json", &changes);
        changes.map(keep).transpose().map_err(|error| error.to_string())
    });
    match kept.await {
        Ok(evidence) => outcome.with(evidence),
        Err(why) => Outcome::error(code::NOT_KEPT, format!("what an attempt changed could not be kept: {why}")),
    }
}

/// A workspace before an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) folder: PathBuf,
    pub(crate) run: Arc<str>,
    pub(crate) snapshot: String,
}
