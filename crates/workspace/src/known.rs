//! Repositories that were found before. Asking `git` takes longer than most of what is then done, and the answer hardly ever changes.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::place::Place;

static KNOWN: Mutex<BTreeMap<PathBuf, (Place, Stamp)>> = Mutex::new(BTreeMap::new());

/// What the answer rests on: while this is the same, so is the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// The `.git` of the repository: device and inode.
    git: (u64, u64),
    /// Its settings, which may say that the files are elsewhere: inode, size and when they were written.
    settings: (u64, u64, i64, i64),
}

/// Where a folder, with all its links followed, was found to belong, if nothing has changed since.
pub(crate) fn recall(folder: &Path) -> Option<Place> {
    let (place, stamp) = known().get(folder).cloned()?;
    (stamp_of(folder, &place).ok()? == stamp).then_some(place)
}

pub(crate) fn remember(folder: &Path, place: &Place) {
    if let Ok(stamp) = stamp_of(folder, place) {
        known().insert(folder.to_owned(), (place.clone(), stamp));
    }
}

fn stamp_of(folder: &Path, place: &Place) -> io::Result<Stamp> {
    let repository = place.repository.as_ref().ok_or(io::ErrorKind::NotFound)?;
    // A repository that somebody has made further in is another one.
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

fn known() -> MutexGuard<'static, BTreeMap<PathBuf, (Place, Stamp)>> {
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
    fn what_has_changed_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let inside = root.join("a/b");
        init(&root);
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(Place::find(&inside).unwrap().root, root);
        assert_eq!(recall(&inside).map(|place| place.root), Some(root.clone()));

        // Another repository further in.
        init(&root.join("a"));
        assert_eq!(recall(&inside).map(|place| place.root), None);
        assert_eq!(Place::find(&inside).unwrap().root, root.join("a"));

        // It is gone again, and so is the one around it.
        fs::remove_dir_all(root.join("a/.git")).unwrap();
        assert_eq!(Place::find(&inside).unwrap().root, root);
        fs::remove_dir_all(root.join(".git")).unwrap();
        assert!(Place::find(&inside).unwrap().repository.is_none());
    }

    #[test]
    fn settings_that_have_changed_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        init(&root);
        assert_eq!(Place::find(&root).unwrap().root, root);
        let bare = Command::new("git").args(["config", "core.bare", "true"]).current_dir(&root).status().unwrap();
        assert!(bare.success());
        assert!(recall(&root).is_none());
    }
}
