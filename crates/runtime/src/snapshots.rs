//! The seam to the workspace: what a write can be taken back to.

use std::path::Path;

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
