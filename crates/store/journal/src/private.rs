//! Directories and files that only their owner can open, because the data of runs is private. Existing files and
//! directories keep their mode.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use crate::{Error, Result};

/// Creates a directory that only its owner can open, and its parent directories.
pub fn folder(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| Error::io(format!("the directory {} could not be created", path.display()), &error))
}

/// Creates an empty file that only its owner can open. SQLite gives the files beside it the same mode.
pub fn file(path: &Path) -> Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::io(format!("the store {} could not be created", path.display()), &error)),
    }
}
