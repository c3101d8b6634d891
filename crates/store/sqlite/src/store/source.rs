//! The ways to read a store: beside its writers, or from a place that cannot be written.
//!
//! SQLite keeps an index of the write-ahead log beside the file, even for a reader. In a directory that cannot be written it
//! therefore reads only a store that a writer has open. An auditor's copy is read as an immutable file if its log is
//! empty. If the log has records, both files are copied to a private directory and read there, because an immutable file
//! would be read without its log.

#![expect(clippy::disallowed_methods, reason = "the copy is in a private temporary directory")]

use std::{
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use interlock_journal::Error;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::TempDir;

use crate::database::{self, BUSY_WAIT};

/// The ending of the write-ahead log's name.
const LOG: &str = "-wal";

/// A store that can be read.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    /// The address with which SQLite opens it.
    pub(crate) uri: String,
    /// The private directory of a copy.
    _copy: Option<TempDir>,
}

impl Source {
    /// Finds the way to read a store.
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        let beside = Source { path: path.to_owned(), uri: uri(path, ""), _copy: None };
        let failed = |error: &rusqlite::Error| database::error(doing(path), error);
        match beside.connect() {
            Ok(_) => Ok(beside),
            Err(error)
                if !matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
                    || !path.is_file() =>
            {
                Err(failed(&error))
            }
            Err(_) => match fs::metadata(log_of(path)).is_ok_and(|log| log.len() > 0) {
                true => Source::copied(path).map_err(|error| Error::io(doing(path), &error)),
                false => Ok(Source { uri: uri(path, "&immutable=1"), ..beside }),
            },
        }
    }

    fn copied(path: &Path) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("copy");
        // The log first: a commit in between is then in neither, or the log is refused by its checksums.
        fs::copy(log_of(path), log_of(&copy))?;
        fs::copy(path, &copy)?;
        Ok(Source { path: path.to_owned(), uri: uri(&copy, ""), _copy: Some(folder) })
    }

    /// Opens the store for reading.
    pub(crate) fn open(&self) -> Result<Connection, Error> {
        self.connect().map_err(|error| database::error(doing(&self.path), &error))
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(&self.uri, flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        // The file is opened by the first statement.
        connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        Ok(connection)
    }
}

fn doing(path: &Path) -> String {
    format!("the store {} could not be read", path.display())
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOG);
    name.into()
}

/// Returns the address of a file, with every byte escaped that has a meaning in an address.
fn uri(path: &Path, more: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let escaped = |byte: &u8| match is_plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let path: String = path.as_os_str().as_bytes().iter().map(escaped).collect();
    format!("file:{path}?mode=ro{more}")
}
