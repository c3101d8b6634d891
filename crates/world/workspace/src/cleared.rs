//! Takes out of the way what keeps git from reading a workspace, and remembers what was done until the changes of an
//! attempt are recorded.
//!
//! After an attempt, and before its tree is computed, [`clear`] looks where a program is likely to have put something.
//! If git is blocked nevertheless, [`unblocked`] looks everywhere and repeats the operation once.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{fs, path::Path};

use interlock_beneath::Folder;
use interlock_git::Place;

use crate::{Error, NotKept, Result, private::Private};

/// The file in a private directory with the sentences that are not recorded yet.
const NOTES: &str = "cleared";

/// Moves pipes, devices and long files out of the way that a program has put in place of files of git, in the workspace of
/// a directory and in its repository, and opens what it has made unreadable there. Says what that was. Git is not asked
/// where they are, because it would wait for them.
pub(crate) fn clear(folder: &Path) -> Vec<String> {
    clear_by(folder, interlock_git::clear)
}

fn clear_by(folder: &Path, clear: fn(&Path) -> Vec<String>) -> Vec<String> {
    let Ok(place) = Place::find(folder) else { return clear(folder) };
    let mut said = clear(&place.root);
    // The repository of a linked worktree is elsewhere.
    if let Some(dirs) = place.repository.filter(|dirs| !dirs.common.starts_with(&place.root)) {
        said.extend(clear(&dirs.common));
    }
    said
}

/// Runs an operation on a workspace. If git was blocked by files in it, they are taken out of the way, and the operation
/// runs once more. Adds what was done to `said`.
pub(crate) fn unblocked<T>(
    folder: &Path,
    said: &mut Vec<String>,
    mut work: impl FnMut(&mut Vec<String>) -> Result<T>,
) -> Result<T> {
    match work(said) {
        Err(Error::GitStopped(why)) => {
            let cleared = clear_by(folder, interlock_git::clear_all);
            if cleared.is_empty() {
                return Err(Error::GitStopped(why));
            }
            said.extend(cleared);
            work(said)
        }
        other => other,
    }
}

/// Lets this user read files and the directories on the way to them. Says what was done.
pub(crate) fn open_up<'p>(root: &Path, closed: impl Iterator<Item = &'p NotKept>) -> Vec<String> {
    let Ok(root) = Folder::open(root) else { return Vec::new() };
    let open_up = |path: &NotKept| {
        let mut on_the_way: Vec<&Path> = path.path.ancestors().collect();
        on_the_way.reverse();
        on_the_way.into_iter().filter_map(|path| interlock_git::open_up(&root, path)).collect::<Vec<_>>()
    };
    closed.flat_map(open_up).collect()
}

/// Keeps sentences until [`noted`] takes them. They only explain, so a failure to keep them is none of the operation.
pub(crate) fn note(private: &Private, said: Vec<String>) {
    if said.is_empty() {
        return;
    }
    let all: Vec<String> = noted(private).into_iter().chain(said).collect();
    if let Ok(json) = serde_json::to_vec(&all) {
        let _ = fs::write(private.folder.join(NOTES), json);
    }
}

/// Takes the sentences that were kept.
pub(crate) fn noted(private: &Private) -> Vec<String> {
    let path = private.folder.join(NOTES);
    let Ok(json) = fs::read(&path) else { return Vec::new() };
    let _ = fs::remove_file(&path);
    serde_json::from_slice(&json).unwrap_or_default()
}
