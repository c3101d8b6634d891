//! Directories of files that no program works in: reading, copying and changing them without following a link.
//!
//! The trees come from a repository that a program may have prepared, so a path of one tree can be a link in another.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

/// The most files of a tree that are copied; a larger one is not verified in a place of its own.
const FILES_MAX: usize = 200_000;

/// Copies a directory with its links and permissions into a directory that does not exist yet.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let (mut waiting, mut count) = (vec![PathBuf::new()], 0);
    fs::create_dir_all(to)?;
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(from.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            count += 1;
            if count > FILES_MAX {
                return Err(io::Error::other(format!("there are more than {FILES_MAX} files")));
            }
            let kind = entry.file_type()?;
            if kind.is_dir() {
                fs::create_dir(to.join(&path))?;
                waiting.push(path);
            } else if kind.is_symlink() {
                symlink(fs::read_link(entry.path())?, to.join(&path))?;
            } else {
                fs::copy(entry.path(), to.join(&path))?;
            }
        }
    }
    Ok(())
}

/// Returns the content of a file, or the target of a link; `None` if there is neither.
pub(crate) fn content(root: &Path, path: &str) -> Option<Vec<u8>> {
    let about = walk(root, path)?;
    let path = root.join(path);
    match about.file_type() {
        kind if kind.is_file() => fs::read(path).ok(),
        kind if kind.is_symlink() => Some(fs::read_link(path).ok()?.into_os_string().into_encoded_bytes()),
        _ => None,
    }
}

/// Returns the metadata of a path below the root if no directory on the way is a link.
fn walk(root: &Path, path: &str) -> Option<fs::Metadata> {
    let mut at = root.to_owned();
    let mut about = None;
    for name in Path::new(path).components() {
        if about.as_ref().is_some_and(|about: &fs::Metadata| !about.is_dir()) {
            return None;
        }
        at.push(name);
        about = Some(fs::symlink_metadata(&at).ok()?);
    }
    about
}

/// Removes a file or a directory, if there is one.
pub(crate) fn remove(root: &Path, path: &str) -> io::Result<()> {
    match walk(root, path) {
        Some(about) if about.is_dir() => fs::remove_dir_all(root.join(path)),
        Some(_) => fs::remove_file(root.join(path)),
        None => Ok(()),
    }
}

/// Creates a directory. Whatever else stands on its way is removed.
pub(crate) fn make_folder(root: &Path, path: &Path) -> io::Result<()> {
    let mut at = root.to_owned();
    for name in path.components() {
        at.push(name);
        match fs::symlink_metadata(&at) {
            Ok(about) if about.is_dir() => continue,
            Ok(_) => fs::remove_file(&at)?,
            Err(_) => {}
        }
        fs::create_dir(&at)?;
    }
    Ok(())
}

/// Replaces a file by the one at the same path of another directory, or removes it if there is none.
pub(crate) fn replace(root: &Path, path: &str, other: &Path) -> io::Result<()> {
    remove(root, path)?;
    let Some(about) = walk(other, path) else { return Ok(()) };
    make_folder(root, Path::new(path).parent().unwrap_or(Path::new("")))?;
    match about.is_symlink() {
        true => symlink(fs::read_link(other.join(path))?, root.join(path)),
        false if about.is_file() => fs::copy(other.join(path), root.join(path)).map(drop),
        false => Ok(()),
    }
}

/// Writes a text over a file and keeps its permissions.
pub(crate) fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let mode = walk(root, path).map_or(0o644, |about| about.permissions().mode());
    remove(root, path)?;
    make_folder(root, Path::new(path).parent().unwrap_or(Path::new("")))?;
    fs::write(root.join(path), text)?;
    fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode))
}
