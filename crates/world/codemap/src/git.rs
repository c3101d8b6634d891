//! Asks git for lists of paths.

use std::path::Path;

use crate::{Error, Result};

/// Runs `git` in a directory and returns its output, split at NULs. With `git_dir`, the directory is used as the work
/// tree of that repository.
pub(crate) fn paths(folder: &Path, git_dir: Option<&Path>, arguments: &[&str]) -> Result<Vec<Vec<u8>>> {
    let git: interlock_git::Git<Error> = match git_dir {
        Some(git_dir) => interlock_git::Git::reading(folder, git_dir),
        None => interlock_git::Git::discover(folder),
    };
    git.paths(arguments)
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
