//! The error type inside this crate: a journal error, made from SQLite's errors by `?`.
//!
//! `interlock_journal::Error` knows no database, so the conversion from SQLite's errors needs a type of this crate. The engine
//! returns the journal error.

use interlock_journal::Error;

use crate::database;

/// The result of a function that uses a connection.
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

/// A journal error, for `?` on SQLite's results.
#[derive(Debug)]
pub(crate) struct Fault(Error);

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault(database::error("the journal could not be used", &error))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault(error)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        fault.0
    }
}
