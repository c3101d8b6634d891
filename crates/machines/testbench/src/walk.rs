//! The files below a directory in which programs worked.

use std::{io, path::Path};

use interlock_beneath::{Entry, Folder};

/// The largest file that is read or copied.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// The largest number of entries, and the greatest depth.
const FILES_MAX: usize = 200_000;
const DEPTH_MAX: usize = 64;

/// Returns everything below a directory, parents first, without following links and without the content of `.git`
/// directories. The paths are relative to the directory.
pub(crate) fn walk(folder: &Path) -> io::Result<Vec<Entry>> {
    let enter = |entry: &Entry| !is_git(entry) && entry.path.components().count() <= DEPTH_MAX;
    let mut all = Folder::open(folder)?.list(Path::new(""), FILES_MAX, enter)?;
    all.retain(|entry| !is_git(entry));
    Ok(all)
}

/// Copies a directory without its repository. Symbolic links are copied as links.
pub(crate) fn copy(from: &Path, to: &Path, bytes_max: u64) -> io::Result<()> {
    interlock_beneath::whole::make_folders(to)?;
    let (from, to) = (Folder::open(from)?, Folder::open(to)?);
    Ok(from.copy_to(&to, (FILES_MAX, bytes_max), |entry| !is_git(entry))?)
}

fn is_git(entry: &Entry) -> bool {
    entry.path.file_name().is_some_and(|name| name == ".git")
}
