//! What can go wrong with a workspace.

use std::{io, path::Path};

use crate::patch::Problem;

/// What workspace functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a workspace could not be kept or put back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The program is not there.
    #[error("git could not be started ({0}); it is needed to keep what commands change")]
    NoGit(String),
    /// The program said no.
    #[error("git {doing}: {said}")]
    Git {
        /// What it was told to do.
        doing: String,
        /// What it said.
        said: String,
    },
    /// The file system said no.
    #[error("{doing}: {why}")]
    Io {
        /// What was being done, with the path.
        doing: String,
        /// What was said.
        why: String,
    },
    /// Nothing is kept under this name.
    #[error("there is no snapshot called `{0}`")]
    NoSnapshot(String),
    /// Something keeps the folder from being what it was.
    #[error("{count} files are still not what they were, among them {path}")]
    Unequal {
        /// How many.
        count: usize,
        /// One of them.
        path: String,
    },
    /// A commit could not be made. Nothing was changed.
    #[error("{0}")]
    Commit(String),
    /// The workspace is not what it should be.
    #[error("the workspace is the tree {found}, not {expected}")]
    TreeChanged {
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A patch does not fit, or must not be applied. Nothing was changed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Patch(Vec<Problem>),
    /// Something failed midway, and not everything could be taken back. What was there is beside its place, under names that begin with
    /// `.interlock-aside-`.
    #[error("{why}; and not everything could be taken back: {}", .left.join("; "))]
    Torn {
        /// What failed first.
        why: String,
        /// What could not be taken back.
        left: Vec<String>,
    },
}

impl Error {
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Error::Io { doing: format!("could not {doing} {}", path.display()), why: error.to_string() }
    }
}
