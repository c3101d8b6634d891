//! The seam to the workspace: what a write can be taken back to.

use std::path::{Path, PathBuf};

use interlock_workspace::Workspace;

/// Keeps and restores the content of a folder.
pub trait Snapshots: Send + Sync + 'static {
    /// The content of the folder as it is, kept under the name that is returned; nothing where the folder cannot be kept. May block.
    fn take(&self, folder: &Path, run: &str) -> Result<Option<String>, String>;

    /// Makes the folder what it was. May block. Returns what was done, in words.
    fn restore(&self, folder: &Path, snapshot: &str) -> Result<String, String>;
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
}
