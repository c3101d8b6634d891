//! Directories with a copy of a tree: reading, copying and changing them without following a link.
//!
//! The trees come from a repository that a program may have prepared, so a path of one tree can be a link in another.

#![expect(clippy::disallowed_methods, reason = "the room is in the store, and no program works in the copy yet")]

use std::{
    io::{self, Write as _},
    path::Path,
};

use interlock_beneath::{FileType, Folder, Mode};

use super::names;

/// The most files of a tree that are copied; a larger one is not verified in a place of its own.
const FILES_MAX: usize = 200_000;

/// A file of a tree may be as long as git allows.
const BYTES_MAX: u64 = u64::MAX;

/// Copies a directory with its links and permissions into a directory that does not exist yet.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    Ok(Folder::open(from)?.copy_to(&Folder::open(to)?, (FILES_MAX, BYTES_MAX), |_| true)?)
}

/// Returns the content of a file, or the target of a link; `None` if there is neither.
pub(crate) fn content(root: &Path, path: &str) -> Option<Vec<u8>> {
    let (root, path) = (Folder::open(root).ok()?, names::path(path));
    match root.kind(&path).ok()?? {
        FileType::RegularFile => root.read(&path, BYTES_MAX).ok(),
        FileType::Symlink => Some(root.read_link(&path).ok()?.into_os_string().into_encoded_bytes()),
        _ => None,
    }
}

/// Creates a directory. Whatever else stands on its way is removed.
pub(crate) fn make_folder(root: &Folder, path: &Path) -> io::Result<()> {
    let on_the_way: Vec<&Path> = path.ancestors().filter(|above| !above.as_os_str().is_empty()).collect();
    for above in on_the_way.into_iter().rev() {
        if root.kind(above)?.is_some_and(|kind| kind != FileType::Directory) {
            root.remove_all(above)?;
        }
    }
    Ok(root.make_folders(path)?)
}

/// Makes a link, with the directories above it.
pub(crate) fn link(root: &Folder, path: &Path, target: &Path) -> io::Result<()> {
    make_folder(root, path.parent().unwrap_or(Path::new("")))?;
    Ok(root.symlink(target, path)?)
}

/// Replaces a file by the one at the same path of another directory, or removes it if there is none.
pub(crate) fn replace(root: &Path, path: &str, other: &Path) -> io::Result<()> {
    let (root, other, path) = (Folder::open(root)?, Folder::open(other)?, names::path(path));
    let path = path.as_path();
    root.remove_all(path)?;
    match other.kind(path)? {
        Some(FileType::Symlink) => link(&root, path, &other.read_link(path)?),
        Some(FileType::RegularFile) => {
            let mode = Mode::from_raw_mode(other.stat(path)?.st_mode & 0o777);
            create(&root, path, &other.read(path, BYTES_MAX)?, mode)
        }
        _ => Ok(()),
    }
}

/// Writes a text over a file and keeps its permissions.
pub(crate) fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let (root, path) = (Folder::open(root)?, names::path(path));
    let path = path.as_path();
    let mode = match root.stat(path) {
        Ok(about) if FileType::from_raw_mode(about.st_mode) == FileType::RegularFile => about.st_mode & 0o777,
        _ => 0o644,
    };
    root.remove_all(path)?;
    create(&root, path, text.as_bytes(), Mode::from_raw_mode(mode))
}

/// Creates a file at a free path, with the directories above it.
fn create(root: &Folder, path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    make_folder(root, path.parent().unwrap_or(Path::new("")))?;
    root.create_new(path, mode)?.write_all(content)
}
