//! Errors of this crate: `git` is missing or fails, or the directory cannot be read. Unreadable files are only counted.

use std::path::PathBuf;

/// The reason why a map could not be created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `git`, which lists the files, cannot be started.
    #[error("`git` cannot be started: {0}")]
    NoGit(String),
    /// A `git` command failed.
    #[error("`git {doing}` failed: {said}")]
    Git {
        /// The command that failed.
        doing: String,
        /// The error output of `git`.
        said: String,
    },
    /// A call of `git` made no progress.
    #[error("{0}")]
    GitStopped(String),
    /// The directory does not exist, or the path is not a directory.
    #[error("cannot examine {}: {why}", path.display())]
    Folder {
        /// The path that was given.
        path: PathBuf,
        /// The error message of the operating system.
        why: String,
    },
}

/// A result with this crate's error type.
pub type Result<T> = std::result::Result<T, Error>;
