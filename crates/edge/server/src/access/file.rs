//! The file with the hashes of tokens and sessions.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs,
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::Role;
use crate::problem::{Problem, Result};

/// The size of the largest file that is read.
const BYTES_MAX: u64 = 1024 * 1024;

/// A token or a session, without its value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The name of its owner, which records carry.
    pub name: String,
    /// Its rights.
    pub role: Role,
    /// The hash of its value.
    pub(super) hash: [u8; 32],
    /// The time of its creation, in milliseconds since 1970.
    pub created_ms: i64,
    /// The time of its end, in milliseconds since 1970; without one it does not expire.
    pub expires_ms: Option<i64>,
}

impl Token {
    pub(super) fn is_valid(&self, now_ms: i64) -> bool {
        self.expires_ms.is_none_or(|end| now_ms < end)
    }
}

/// The content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    #[serde(default)]
    pub(super) tokens: Vec<Token>,
    #[serde(default)]
    pub(super) sessions: Vec<Token>,
}

/// A version of the file: its number, the time of its last change, and its length.
pub(super) type Version = (u64, i64, i64, u64);

/// The file. It is replaced as a whole, under a lock.
#[derive(Debug)]
pub(super) struct AccessFile(PathBuf);

impl AccessFile {
    pub(super) fn new(path: PathBuf) -> Self {
        AccessFile(path)
    }

    /// Returns a value that differs after every change; `None` if there is no file.
    pub(super) fn version(&self) -> Option<Version> {
        let found = fs::metadata(&self.0).ok()?;
        Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
    }

    pub(super) fn read(&self) -> Result<Access> {
        let bytes = match fs::metadata(&self.0) {
            Ok(found) if found.len() > BYTES_MAX => {
                return Err(Problem::failed(format!("{} is too large", self.0.display())));
            }
            Ok(_) => fs::read(&self.0).map_err(|error| self.wrong("read", &error))?,
            Err(_) => return Ok(Access::default()),
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            Problem::failed(format!("{} is damaged: {error}", self.0.display()))
                .hint("move the file away and create the tokens again with `interlock token add`")
        })
    }

    /// Changes the content. Another process that changes it waits.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Access) -> Result<T>) -> Result<T> {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let lock = self.0.with_extension("lock");
        interlock_journal::private::file(&lock)?;
        let lock = fs::File::open(&lock).map_err(|error| self.wrong("lock", &error))?;
        lock.lock().map_err(|error| self.wrong("lock", &error))?;
        let mut access = self.read()?;
        let result = change(&mut access)?;
        let text = serde_json::to_vec_pretty(&access).map_err(|error| Problem::failed(error.to_string()))?;
        // A temporary file is private from the start.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| self.wrong("write", &error))?;
        file.write_all(&text).and_then(|()| file.as_file().sync_all()).map_err(|error| self.wrong("write", &error))?;
        file.persist(&self.0).map_err(|error| self.wrong("write", &error.error))?;
        Ok(result)
    }

    fn wrong(&self, verb: &str, error: &std::io::Error) -> Problem {
        Problem::failed(format!("cannot {verb} {}: {error}", self.0.display()))
    }
}
