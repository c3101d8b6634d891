//! Copies of files of a repository, in the private directory. Equal files are copied once.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use interlock_beneath::{Folder, Stat};
use sha2::{Digest as _, Sha256};

use crate::private::hex;

/// The copies of a private directory.
#[derive(Clone, Copy)]
pub(super) struct Copies<'p> {
    pub(super) folder: &'p Path,
}

impl Copies<'_> {
    /// Copies a file unless a copy of it exists. Returns the name of the copy.
    pub(super) fn of_file(self, git: &Folder, path: &str, about: &Stat, bytes_max: u64) -> io::Result<String> {
        let name = name(about);
        if !self.folder.join(&name).exists() {
            put(&self.folder.join(&name), &git.read(Path::new(path), bytes_max)?)?;
        }
        Ok(name)
    }

    /// Stores a content under its hash.
    pub(super) fn of_content(self, content: &[u8]) -> io::Result<String> {
        let name = format!("content-{}", hex(&Sha256::digest(content)));
        if !self.folder.join(&name).exists() {
            put(&self.folder.join(&name), content)?;
        }
        Ok(name)
    }

    pub(super) fn read(self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }

    pub(super) fn path(self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Names a file by its metadata. A program cannot set the time of the last change.
pub(super) fn name(about: &Stat) -> String {
    let (ino, size) = (about.st_ino, about.st_size);
    let times = [about.st_mtime, about.st_ctime].map(|time| time.to_string()).join("-");
    format!("copy-{ino}-{size}-{times}-{}-{}", about.st_mtime_nsec, about.st_ctime_nsec)
}

/// Writes a file of the private directory at once.
pub(super) fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
