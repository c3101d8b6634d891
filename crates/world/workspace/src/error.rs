//! The error type of the workspace crate.

use std::{io, path::Path};

use crate::patch::Problem;

/// The result of workspace functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a workspace operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The `git` program could not be started.
    #[error("git could not be started ({0}); it is needed to store the changes of commands")]
    NoGit(String),
    /// A call of `git` failed.
    #[error("git {doing}: {said}")]
    Git {
        /// The subcommand of `git` that failed.
        doing: String,
        /// The error output of `git`.
        said: String,
    },
    /// A call of `git` made no progress, or was refused because of what lies in place of a file.
    #[error("{0}")]
    GitStopped(String),
    /// The file system reported an error.
    #[error("{doing}: {why}")]
    Io {
        /// The operation that failed, with its path.
        doing: String,
        /// The error message of the operating system.
        why: String,
    },
    /// No snapshot is stored under this name.
    #[error("there is no snapshot called `{0}`")]
    NoSnapshot(String),
    /// After a restore some files still differ from the snapshot.
    #[error("{count} files could not be restored, among them {path}")]
    Unequal {
        /// The number of files that differ.
        count: usize,
        /// The path of one file that differs.
        path: String,
    },
    /// A commit could not be made. Nothing was changed.
    #[error("{0}")]
    Commit(String),
    /// A worktree could not be made, filled or applied. Nothing was changed.
    #[error("{0}")]
    Worktree(String),
    /// The workspace differs from the tree that the caller expected.
    #[error("the workspace is the tree {found}, not {expected}")]
    TreeChanged {
        /// The hash of the expected tree.
        expected: String,
        /// The hash of the tree that was found.
        found: String,
    },
    /// A patch does not fit, or must not be applied. Nothing was changed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Patch(Vec<Problem>),
    /// An operation failed midway and could not be undone completely. The previous content lies in the same directory,
    /// under names that begin with `.interlock-aside-`.
    #[error("{why}; and not all changes could be undone: {}", .left.join("; "))]
    Torn {
        /// The error that occurred first.
        why: String,
        /// The errors that occurred during the undo.
        left: Vec<String>,
    },
}

impl From<interlock_git::Error> for Error {
    fn from(error: interlock_git::Error) -> Self {
        match error {
            interlock_git::Error::NoGit(why) => Error::NoGit(why),
            interlock_git::Error::Failed { doing, said } => Error::Git { doing, said },
            interlock_git::Error::Stopped(why) => Error::GitStopped(why),
        }
    }
}

impl Error {
    /// Returns true if a call of `git` was ended. The same call would be ended again.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Error::GitStopped(_))
    }

    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Error::Io { doing: format!("could not {doing} {}", path.display()), why: error.to_string() }
    }
}
