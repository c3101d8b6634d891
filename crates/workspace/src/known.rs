//! Caches the repositories that were found. A call of `git` takes longer than most operations, and its answer rarely
//! changes.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::place::WorkspaceRoot;

static KNOWN: Mutex<BTreeMap<PathBuf, (WorkspaceRoot, Stamp)>> = Mutex::new(BTreeMap::new());

/// The file metadata that an answer depends on. The answer is valid while the metadata stays the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// The device and inode of the repository's `.git`.
    git: (u64, u64),
    /// The inode, size and modification time of its configuration, which can move the work tree elsewhere.
    settings: (u64, u64, i64, i64),
}

/// Returns the cached place of a directory, if nothing has changed since. The path must be canonical.
pub(crate) fn recall(folder: &Path) -> Option<WorkspaceRoot> {
    let (place, stamp) = known().get(folder).cloned()?;
    (stamp_of(folder, &place).ok()? == stamp).then_some(place)
}

pub(crate) fn remember(folder: &Path, place: &WorkspaceRoot) {
    if let Ok(stamp) = stamp_of(folder, place) {
        known().insert(folder.to_owned(), (place.clone(), stamp));
    }
}

fn stamp_of(folder: &Path, place: &WorkspaceRoot) -> io::Result<Stamp> {
    let repository = place.repository.as_ref().ok_or(io::ErrorKind::NotFound)?;
    // A new repository in a subdirectory takes precedence.
    let nearest = folder.ancestors().find(|above| fs::symlink_metadata(above.join(".git")).is_ok());
    if nearest != Some(place.root.as_path()) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let git = fs::metadata(place.root.join(".git"))?;
    let settings = fs::metadata(repository.git_dir.join("config"))?;
    Ok(Stamp {
        git: (git.dev(), git.ino()),
        settings: (settings.ino(), settings.size(), settings.mtime(), settings.mtime_nsec()),
    })
}

fn known() -> MutexGuard<'static, BTreeMap<PathBuf, (WorkspaceRoot, Stamp)>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn init(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        assert!(Command::new("git").args(["init", "--quiet"]).current_dir(folder).status().unwrap().success());
    }

    #[test]
    fn place_is_found_again_after_a_repository_appears_or_disappears() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let inside = root.join("a/b");
        init(&root);
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(WorkspaceRoot::find(&inside).unwrap().root, root);
        assert_eq!(recall(&inside).map(|place| place.root), Some(root.clone()));

        // Create another repository in a subdirectory.
        init(&root.join("a"));
        assert_eq!(recall(&inside).map(|place| place.root), None);
        assert_eq!(WorkspaceRoot::find(&inside).unwrap().root, root.join("a"));

        // Remove it again, and then the outer repository.
        fs::remove_dir_all(root.join("a/.git")).unwrap();
        assert_eq!(WorkspaceRoot::find(&inside).unwrap().root, root);
        fs::remove_dir_all(root.join(".git")).unwrap();
        assert!(WorkspaceRoot::find(&inside).unwrap().repository.is_none());
    }

    #[test]
    fn changed_settings_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        init(&root);
        assert_eq!(WorkspaceRoot::find(&root).unwrap().root, root);
        let bare = Command::new("git").args(["config", "core.bare", "true"]).current_dir(&root).status().unwrap();
        assert!(bare.success());
        assert!(recall(&root).is_none());
    }
}
