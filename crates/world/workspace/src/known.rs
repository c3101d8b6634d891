//! Caches what git was asked about a repository. A call of `git` takes longer than most operations, and its answer rarely
//! changes. Where the repository is, is not cached: that is read from its files each time.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_git::GitDirs;

use crate::place::Repository;

static KNOWN: Mutex<BTreeMap<PathBuf, (Repository, Stamp)>> = Mutex::new(BTreeMap::new());

/// The inode, size and modification time of a repository's configuration. An answer is valid while they stay the same.
type Stamp = (u64, u64, i64, i64);

/// Returns the cached repository of a root, if it is that one and its configuration has not changed since.
pub(crate) fn recall(root: &Path, dirs: &GitDirs) -> Option<Repository> {
    let (repository, stamp) = known().get(root).cloned()?;
    let is_same = repository.git_dir == dirs.common && repository.own_git_dir == dirs.own;
    (is_same && stamp_of(&repository).ok()? == stamp).then_some(repository)
}

pub(crate) fn remember(root: &Path, repository: &Repository) {
    if let Ok(stamp) = stamp_of(repository) {
        known().insert(root.to_owned(), (repository.clone(), stamp));
    }
}

fn stamp_of(repository: &Repository) -> io::Result<Stamp> {
    let about = fs::symlink_metadata(repository.git_dir.join("config"))?;
    Ok((about.ino(), about.size(), about.mtime(), about.mtime_nsec()))
}

fn known() -> MutexGuard<'static, BTreeMap<PathBuf, (Repository, Stamp)>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
