//! What can go wrong with a journal, and what to do about it.

use std::path::PathBuf;

/// What journal functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the journal could not do what was asked. Nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Somebody else has moved the run on.
    #[error("run {run} has moved on: it is at record {found}, not at {expected}")]
    Conflict {
        /// Which run.
        run: String,
        /// Where it was thought to be.
        expected: u64,
        /// Where it is.
        found: u64,
    },
    /// A sender's id is recorded already.
    #[error("run {run} has an entry with the id `{id}` already: record {seq}")]
    Repeated {
        /// Which run.
        run: String,
        /// The id.
        id: String,
        /// The record of the first entry with this id.
        seq: u64,
    },
    /// Another worker has taken the run over.
    #[error("run {run} is in the hands of another process")]
    Fenced {
        /// Which run.
        run: String,
    },
    /// There is no such run.
    #[error("there is no run called `{0}`")]
    NoRun(String),
    /// There is a run of this name already.
    #[error("there is a run called `{0}` already")]
    Exists(String),
    /// A machine's definition is missing.
    #[error("the definition {0} is not in the store")]
    NoDefinition(String),
    /// Something stored cannot be what was stored.
    #[error("{what} is damaged: {why}")]
    Damaged {
        /// What.
        what: String,
        /// How it shows.
        why: String,
    },
    /// A later version wrote the store.
    #[error("{} was written by a newer interlock (format {found}, this one knows {known})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known.
        known: i64,
    },
    /// The disk, the file system or the lock said no.
    #[error("{doing}: {why}")]
    Store {
        /// What was being done, with the path.
        doing: String,
        /// What was said.
        why: String,
        /// What kind of trouble it is.
        trouble: Trouble,
    },
    /// The writer is gone: it failed before, and what it would write now nobody could trust.
    #[error("the journal stopped after an earlier failure: {0}")]
    Stopped(String),
}

/// What kind of trouble a store has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// No space left.
    Full,
    /// May not be written.
    ReadOnly,
    /// Another process holds it for too long.
    Locked,
    /// Not a store, or a damaged one.
    Corrupt,
    /// Anything else.
    Other,
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Error::Conflict { .. } => "look at it again with `interlock show`, then decide anew",
            Error::Repeated { .. } => "nothing was recorded; `interlock trace` shows the first one",
            Error::Fenced { .. } => "it goes on there; `interlock watch` follows it",
            Error::NoRun(_) => "`interlock runs` lists them",
            Error::Exists(_) => "choose another name",
            Error::NoDefinition(_) | Error::Damaged { .. } => "`interlock verify` says what can still be trusted",
            Error::Newer { .. } => "use the newer interlock, or another INTERLOCK_HOME",
            Error::Stopped(_) => "the run is left at its last record; resume it when the cause is gone",
            Error::Store { trouble, .. } => match trouble {
                Trouble::Full => "make room on the disk, then `interlock resume`; nothing that was recorded is lost",
                Trouble::ReadOnly => "give this user write permission, or set INTERLOCK_HOME to a folder it may write",
                Trouble::Locked => "another program holds the store; end it or try again",
                Trouble::Corrupt => "restore the store from a copy, or move it away to begin a new one",
                Trouble::Other => return None,
            },
        })
    }

    /// Of an I/O error.
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
