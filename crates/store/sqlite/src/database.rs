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

/// Returns true if the file belongs to another program: it has content, and not the id of Interlock's files.
pub fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    // The tables are counted before the id is read: the process that creates a store commits both at once, so tables
    // without the id are never its own.
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    Ok(application != APPLICATION_ID && (tables > 0 || application != 0 || version != 0))
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
