//! References of a private directory, read and created without starting `git`.
//!
//! A reference that `git gc` has packed is no file of its own; the callers then ask `git`.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fs::{self, DirBuilder},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Component, Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{private::Private, workspace::full_hash};

/// Returns the hash that a reference has, if the reference is a file.
pub(crate) fn read(private: &Private, name: &str) -> Option<String> {
    let text = fs::read_to_string(file(private, name)?).ok()?;
    full_hash(text.trim_end()).ok().map(str::to_owned)
}

/// Creates a reference durably. Fails if a file of this name exists.
pub(crate) fn create(private: &Private, name: &str, hash: &str) -> io::Result<()> {
    let path = file(private, name).ok_or(io::ErrorKind::InvalidInput)?;
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // The file is complete before it gets its name, so that no reader sees half of it.
    let mut file = NamedTempFile::new_in(&private.folder)?;
    file.write_all(format!("{hash}\n").as_bytes())?;
    file.as_file().sync_all()?;
    fs::hard_link(file.path(), path)
}

fn file(private: &Private, name: &str) -> Option<PathBuf> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && name.starts_with("refs/")).then(|| private.folder.join(name))
}
