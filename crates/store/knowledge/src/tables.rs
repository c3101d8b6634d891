//! The tables of the knowledge base.

use std::path::Path;

use interlock_journal::{Error, Result, Trouble};
use interlock_sqlite::database::{self, APPLICATION_ID, BUSY_WAIT, is_foreign, to_wal};
use rusqlite::Connection;

/// Each migration brings the file from one version to the next. Never change a migration that has been released: add
/// another.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE entry (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run TEXT NOT NULL, iteration INTEGER NOT NULL, at INTEGER NOT NULL,
        machine TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '', symptom TEXT NOT NULL DEFAULT '', cause TEXT NOT NULL DEFAULT '',
        patch TEXT NOT NULL DEFAULT '', result TEXT NOT NULL DEFAULT 'no_change', product_line TEXT NOT NULL DEFAULT '',
        tags TEXT NOT NULL DEFAULT '[]', files TEXT NOT NULL DEFAULT '[]', confidence REAL NOT NULL DEFAULT 0,
        evidence_refs TEXT NOT NULL DEFAULT '[]', UNIQUE (run, iteration)
    ) STRICT;
    CREATE TABLE entry_tag (entry INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (entry, tag)) STRICT, WITHOUT ROWID;
    CREATE TABLE entry_vector (
        entry INTEGER NOT NULL, model TEXT NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (entry, model)
    ) STRICT, WITHOUT ROWID;
    CREATE VIRTUAL TABLE entry_text USING fts5 (
        title, symptom, cause, patch, tags, files, tokenize = 'porter unicode61 remove_diacritics 2'
    );
"];

/// Opens the file, and creates or migrates it if needed.
pub(super) fn open(path: &Path) -> Result<Connection> {
    let doing = || format!("the knowledge base {} could not be opened", path.display());
    let connection = Connection::open(path).map_err(|error| database::error(doing(), &error))?;
    let prepared = prepare(&connection).map_err(|error| database::error(doing(), &error))?;
    match prepared {
        Prepared::Good => Ok(connection),
        Prepared::Foreign => {
            let why = "it is the database of another program".to_owned();
            Err(Error::Store { doing: doing(), why, trouble: Trouble::Foreign })
        }
        Prepared::Newer(found) => Err(Error::Newer { path: path.to_owned(), found, known: known() }),
    }
}

/// The state of a file that was opened.
enum Prepared {
    Good,
    Foreign,
    Newer(i64),
}

fn known() -> i64 {
    MIGRATIONS.len() as i64
}

fn prepare(connection: &Connection) -> rusqlite::Result<Prepared> {
    connection.busy_timeout(BUSY_WAIT)?;
    if is_foreign(connection)? {
        return Ok(Prepared::Foreign);
    }
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known() {
        return Ok(Prepared::Newer(found));
    }
    to_wal(connection)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    if found < known() {
        migrate(connection)?;
    }
    Ok(Prepared::Good)
}

/// Migrates the file in one transaction. If two processes do this at once, the second finds it done.
fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = (|| {
        let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
            connection.execute_batch(migration)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", known())?;
        connection.execute_batch("COMMIT")
    })();
    if done.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}
