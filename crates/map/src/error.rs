//! What can go wrong: `git` is not there or says no, or the folder cannot be read. Files that cannot be read are only counted.

use std::path::PathBuf;

/// Why there is no map.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program that knows which files there are.
    #[error("`git` cannot be started: {0}")]
    NoGit(String),
    /// It says no.
    #[error("`git {doing}` failed: {said}")]
    Git {
        /// Which command.
        doing: String,
        /// What it said.
        said: String,
    },
    /// The folder is not there, or no folder.
    #[error("cannot look at {}: {why}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
}

/// Of this crate.
pub type Result<T> = std::result::Result<T, Error>;
