//! Errors of a journal, and the hints that tell a person how to fix them.

use std::path::PathBuf;

/// The result of the journal's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A reason for which the journal refused or failed an operation. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Another writer has advanced the run.
    #[error("run {run} has moved on: it is at record {found}, not at {expected}")]
    Conflict {
        /// The name of the run.
        run: String,
        /// The last record that the caller expected.
        expected: u64,
        /// The last record that the run has.
        found: u64,
    },
    /// The run already has an entry with the sender's id.
    #[error("run {run} already has an entry with the id `{id}`: record {seq}")]
    Repeated {
        /// The name of the run.
        run: String,
        /// The id that the sender gave both entries.
        id: String,
        /// The record of the first entry with this id.
        seq: u64,
    },
    /// Another worker has claimed the run.
    #[error("another process owns run {run}")]
    Fenced {
        /// The name of the run.
        run: String,
    },
    /// The store has no run of this name.
    #[error("there is no run called `{0}`")]
    NoRun(String),
    /// The store already has a run of this name.
    #[error("there is already a run called `{0}`")]
    Exists(String),
    /// The definition of a machine is missing.
    #[error("the definition {0} is not in the store")]
    NoDefinition(String),
    /// Stored data is not as it was written.
    #[error("{what} is damaged: {why}")]
    Damaged {
        /// The name of the damaged data.
        what: String,
        /// The evidence of the damage.
        why: String,
    },
    /// A later version of Interlock wrote the store.
    #[error("{} was written by a newer version of Interlock (format {found}, this one supports {known})", path.display())]
    Newer {
        /// The file that was to be opened.
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The newest format that this version can read.
        known: i64,
    },
    /// The disk, the file system or a lock refused an operation.
    #[error("{doing}: {why}")]
    Store {
        /// The operation that failed, with the path.
        doing: String,
        /// The message of the operating system or of SQLite.
        why: String,
        /// The kind of failure, for hints.
        trouble: Trouble,
    },
    /// The writer has stopped after an earlier failure: the state of the file is unknown, so nothing more is written to
    /// it.
    #[error("the journal stopped after an earlier failure: {0}")]
    Stopped(String),
}

/// The kind of failure that a store has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The disk has no space left.
    Full,
    /// The file or the directory cannot be written.
    ReadOnly,
    /// Another process holds the lock for too long.
    Locked,
    /// The file is not a store, or it is damaged.
    Corrupt,
    /// The file belongs to another program.
    Foreign,
    /// A failure of any other kind.
    Other,
}

impl Error {
    /// Returns the next action that a person can take.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Error::Conflict { .. } => "look at it again with `interlock show`, then decide again",
            Error::Repeated { .. } => "nothing was recorded; `interlock trace` shows the first one",
            Error::Fenced { .. } => "that process continues it; follow it with `interlock watch`",
            Error::NoRun(_) => "list them with `interlock runs`",
            Error::Exists(_) => "choose another name",
            Error::NoDefinition(_) | Error::Damaged { .. } => "`interlock verify` shows which records are intact",
            Error::Newer { .. } => "use the newer version, or another INTERLOCK_HOME",
            Error::Stopped(_) => "the run stopped at its last record; resume it when the cause is fixed",
            Error::Store { trouble, .. } => match trouble {
                Trouble::Full => "free disk space, then run `interlock resume`; no record is lost",
                Trouble::ReadOnly => "give this user write permission, or set INTERLOCK_HOME to a writable directory",
                Trouble::Locked => "another program has locked the store; end it or try again",
                Trouble::Corrupt => "restore the store from a backup, or move it away to start a new one",
                Trouble::Foreign => {
                    "it was left as it is; set INTERLOCK_HOME to another directory, or move the file away"
                }
                Trouble::Other => return None,
            },
        })
    }

    /// Returns true if the place of the store cannot be written.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Error::Store { trouble: Trouble::ReadOnly, .. })
    }

    /// Converts an I/O error; `doing` names the operation that failed.
    pub fn io(doing: impl Into<String>, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let trouble = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Trouble::Full,
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Trouble::ReadOnly,
            _ => Trouble::Other,
        };
        Error::Store { doing: doing.into(), why: error.to_string(), trouble }
    }
}
