//! The same accesses by whole paths, of which no part may be a link.
//!
//! They are for places that are known by their paths only: whoever makes such a place resolves the links above it once.

use std::{
    ffi::OsString,
    fs::File,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use crate::{
    error::{Error, Result},
    folder::Folder,
};

/// Reads a file.
pub fn read(path: impl AsRef<Path>, bytes_max: u64) -> Result<Vec<u8>> {
    let (folder, name) = Folder::above(path.as_ref())?;
    folder.read(&name, bytes_max)
}

/// Opens a regular file for reading.
pub fn open_file(path: impl AsRef<Path>) -> Result<File> {
    let (folder, name) = Folder::above(path.as_ref())?;
    folder.open_file(&name)
}

/// Opens whatever is at a path for a rule of the kernel. It cannot be read through this.
pub fn open_place(path: impl AsRef<Path>) -> Result<OwnedFd> {
    let path = path.as_ref();
    if path.file_name().is_none() {
        return Folder::open(path).map(OwnedFd::from);
    }
    let (folder, name) = Folder::above(path)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(&folder, &name, flags, Mode::empty()).map_err(|error| Error::system(path, error))?;
    let about = fstat(&opened).map_err(|error| Error::system(path, error))?;
    match FileType::from_raw_mode(about.st_mode) {
        FileType::Symlink => Err(Error::Link { path: path.to_owned() }),
        _ => Ok(opened),
    }
}

/// Replaces a file at once, or creates it.
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
    let (folder, name) = Folder::above(path.as_ref())?;
    folder.write(&name, content.as_ref())
}

/// Opens a file to write at its end, and creates it if necessary.
pub fn append(path: impl AsRef<Path>) -> Result<File> {
    let (folder, name) = Folder::above(path.as_ref())?;
    folder.append(&name)
}

/// Copies a file with its permissions. Returns its length.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>, bytes_max: u64) -> Result<u64> {
    let ((folder, from), (other, to)) = (Folder::above(from.as_ref())?, Folder::above(to.as_ref())?);
    folder.copy_file(&from, (&other, &to), bytes_max)
}

/// Creates a directory and those above it.
pub fn make_folders(path: impl AsRef<Path>) -> Result<()> {
    let (path, root) = (path.as_ref(), Path::new("/"));
    match path.strip_prefix(root) {
        Ok(below) => Folder::open_through_links(root)?.make_folders(below),
        Err(_) => Err(Error::Outside { path: path.to_owned(), folder: PathBuf::from(root) }),
    }
}

/// Removes whatever is at a path, if anything is there.
pub fn remove_all(path: impl AsRef<Path>) -> Result<()> {
    match Folder::above(path.as_ref()) {
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
        Ok((folder, name)) => folder.remove_all(&name),
    }
}

/// Removes a file or a link. Returns false if nothing is at the path.
pub fn remove_file(path: impl AsRef<Path>) -> Result<bool> {
    match Folder::above(path.as_ref()) {
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
        Ok((folder, name)) => folder.remove_file(&name),
    }
}

/// Removes whatever is at a path and creates an empty directory there.
pub fn empty(path: impl AsRef<Path>) -> Result<()> {
    remove_all(&path)?;
    make_folders(path)
}

/// Returns what is at a path; `None` if there is nothing.
pub fn kind(path: impl AsRef<Path>) -> Result<Option<FileType>> {
    match Folder::above(path.as_ref()) {
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
        Ok((folder, name)) => folder.kind(&name),
    }
}

/// Returns the names in a directory, in order; none if there is no directory.
pub fn names(path: impl AsRef<Path>) -> Result<Vec<OsString>> {
    match Folder::open(path.as_ref()) {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(folder) => folder.names(Path::new("")),
    }
}
