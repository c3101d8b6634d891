//! Settings and errors that every SQLite file of a store shares: the journal's and the knowledge base's.

use std::time::{Duration, Instant};

use interlock_journal::{Error, Trouble};
use rusqlite::{Connection, ErrorCode};

/// `ILCK`: the application id of Interlock's files, which `file(1)` shows too.
pub const APPLICATION_ID: i64 = 0x494C_434B;

/// The longest wait for another process that is writing.
pub const BUSY_WAIT: Duration = Duration::from_secs(10);

/// The pause between two attempts to set the journal mode.
const ASK_AGAIN: Duration = Duration::from_millis(5);

/// Sets SQLite's write-ahead log mode. If two processes open a new file at once, SQLite refuses one of them
/// immediately, whatever its busy timeout is, so this function retries.
pub fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_WAIT;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(ASK_AGAIN);
            }
            done => return done,
        }
    }
}

/// Converts an error of SQLite to a journal error.
pub fn error(doing: impl Into<String>, error: &rusqlite::Error) -> Error {
    let trouble = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Trouble::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Trouble::ReadOnly,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Trouble::Corrupt,
        _ => Trouble::Other,
    };
    Error::Store { doing: doing.into(), why: error.to_string(), trouble }
}
