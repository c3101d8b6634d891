//! The lock files of a repository. Git makes them for a moment. One that stays makes every later commit fail.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use interlock_git::Place;

/// Maximum number of references beside which locks are looked for, and of processes.
const REFERENCES_MAX: usize = 20_000;
const PROCESSES_MAX: usize = 20_000;

/// The ending of the names of locks. No reference can have it.
const ENDING: &str = ".lock";

/// The full paths of locks.
pub(super) type Locks = BTreeSet<PathBuf>;

/// Returns the locks in the directory with the references and in the one with `HEAD`.
pub(super) fn read(git: &Folder, own: &Folder) -> Locks {
    let is_lock = |path: &Path| path.as_os_str().as_encoded_bytes().ends_with(ENDING.as_bytes());
    let at_top = [git, own].into_iter().flat_map(|folder| {
        let names = folder.names(Path::new("")).unwrap_or_default();
        names.into_iter().map(|name| folder.path().join(name))
    });
    let of_references = git.list_some(Path::new("refs"), REFERENCES_MAX, |entry| !is_lock(&entry.path));
    let of_references = of_references.into_iter().map(|entry| git.path().join(entry.path));
    at_top.chain(of_references).filter(|path| is_lock(path)).collect()
}

/// Removes a lock, whatever it is. Returns false if it is gone already.
pub(super) fn remove(path: &Path) -> interlock_beneath::Result<bool> {
    let (above, name) = Folder::above(path)?;
    match above.kind(&name)? {
        None => Ok(false),
        Some(FileType::Directory) => above.remove_all(&name).map(|()| true),
        Some(_) => above.remove_file(&name),
    }
}

/// Returns true if a git process works in a work tree of the repository, whose locks it may hold.
pub(super) fn is_git_at_work(git_dir: &Path) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().take(PROCESSES_MAX).map(|entry| entry.path());
    let mut gits = processes
        .filter(|process| fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim_end() == "git"))
        .filter_map(|process| fs::read_link(process.join("cwd")).ok());
    gits.any(|folder| {
        let dirs = Place::now(&folder).ok().and_then(|place| place.repository);
        dirs.is_some_and(|dirs| dirs.common == git_dir)
    })
}
