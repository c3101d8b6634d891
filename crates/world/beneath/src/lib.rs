//! Reads, writes, renames and removes files beneath a directory that other programs or people can change.
//!
//! The files of a workspace, of a repository, of an agent's home and of a firmware copy can be prepared by a confined
//! program, also while Interlock works with them. A symbolic link would lead Interlock out of the directory, a named
//! pipe would block it for ever, and a device has no end. So [`Folder`] opens every component of a path relative to the
//! component before it, follows no link, opens nothing but regular files for reading, and reads at most a fixed number
//! of bytes. A component that is exchanged during an access changes nothing elsewhere.
//!
//! This is the only crate that writes in such places; `clippy.toml` forbids the others to change files by path.
//! It also finds the programs that Interlock starts itself ([`programs`]), because a program may have prepared those, too.
//!
//! It does not know which files there are or what they mean. It does not read files that a person names on the command
//! line: there a pipe is intended.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod error;
mod folder;
mod list;
pub mod programs;
mod remove;
pub mod whole;
mod write;

use std::path::Path;

pub use error::{Error, Result};
pub use folder::Folder;
pub use list::Entry;
pub use rustix::fs::{FileType, Mode, Stat};

/// Reads a file within a directory. No part of the whole path may be a link.
pub fn read(folder: &Path, path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    Folder::open(folder)?.read(path, bytes_max)
}

/// Reads the first bytes of a file within a directory.
pub fn read_beginning(folder: &Path, path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    Folder::open(folder)?.read_beginning(path, bytes_max)
}

/// Reads a text file within a directory; returns `None` if it does not exist.
pub fn read_text(folder: &Path, path: &Path, bytes_max: u64) -> Result<Option<String>> {
    Folder::open(folder)?.read_text(path, bytes_max)
}

#[cfg(test)]
mod tests;
