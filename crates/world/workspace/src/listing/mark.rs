//! A mark of the object store that changes whenever objects may have been removed.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fs, io,
    path::Path,
    process,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::private::Private;

/// The file with the mark.
const FILE: &str = "mark";

/// Returns the current mark.
pub(super) fn read(private: &Private) -> Option<String> {
    fs::read_to_string(private.folder.join(FILE)).ok()
}

/// Returns the current mark and sets the first one.
pub(super) fn find(private: &Private) -> Option<String> {
    read(private).or_else(|| {
        renew(&private.folder).ok()?;
        read(private)
    })
}

/// Sets another mark in a private directory, so that no process trusts what it remembers.
pub(crate) fn renew(folder: &Path) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let file = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(file.path(), format!("{} {}", now.as_nanos(), process::id()))?;
    file.persist(folder.join(FILE)).map(drop).map_err(|error| error.error)
}
