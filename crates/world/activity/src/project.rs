//! The project's own files that a run is bound by: its policy and its risk weights. This module names them and reads them.
//!
//! The runtime stores them when a run begins (`crates/world/runtime/src/project.rs`), and the policy activities read them.

use std::path::{Path, PathBuf};

use interlock_git::Place;

/// A project's policy, relative to the root of its workspace.
pub const POLICY: &str = ".interlock/policy.toml";

/// A project's risk weights, relative to the root of its workspace.
pub const RISK: &str = ".interlock/risk.toml";

/// The longest file of either kind that is read.
pub const BYTES_MAX: u64 = 1_024 * 1_024;

/// Reads a file's text; `None` if the file does not exist.
///
/// # Errors
///
/// Refuses links, pipes and devices: a link could name another file, a pipe could block forever, a device could have no end.
pub fn read(top: &Path, path: &str) -> Result<Option<String>, String> {
    interlock_beneath::read_text(top, Path::new(path), BYTES_MAX).map_err(|error| error.to_string())
}

/// Returns the root of the workspace of a directory. If the workspace cannot be used, this is the directory itself, where
/// [`read`] fails for the same reason.
pub fn root(folder: &Path) -> PathBuf {
    Place::find(folder).map_or_else(|_| folder.to_owned(), |place| place.root)
}
