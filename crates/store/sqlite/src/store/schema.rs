//! The tables, and the migrations that create and update them.

use std::{collections::BTreeMap, path::Path};

use interlock_journal::{Error, Trouble};
use rusqlite::Connection;

use crate::{
    Result,
    database::{self, APPLICATION_ID, BUSY_WAIT, is_foreign, to_wal},
};

/// The number of pages in the write-ahead log at which they are moved into the store: 4 MiB. With this size checkpoints
/// are rare, and the log is soon overwritten instead of growing: a file system takes longer to make a growing file
/// durable.
const PAGES_PER_CHECKPOINT: i64 = 1_024;

/// Each migration brings a store from one version to the next. Never change a migration that has been released: add
/// another.
const MIGRATIONS: [&str; 4] = [
    "
    CREATE TABLE definition (
        hash TEXT PRIMARY KEY, machine TEXT NOT NULL, version INTEGER NOT NULL, packed BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE run (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, machine TEXT NOT NULL, definition TEXT NOT NULL REFERENCES definition,
        parent TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL,
        phase INTEGER NOT NULL, place TEXT NOT NULL, worker INTEGER, epoch INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX run_by_phase ON run (phase) WHERE phase = 0;

    -- In the order of writing, so that a commit touches few pages however many runs share it.
    CREATE TABLE record (
        id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL,
        payload TEXT NOT NULL, hash BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX record_by_run ON record (run, seq);

    CREATE TABLE snapshot (run INTEGER PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL) STRICT;

    CREATE TABLE timer (
        run INTEGER NOT NULL, timer INTEGER NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (run, timer)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX timer_by_due ON timer (due);

    CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, body TEXT NOT NULL, answer TEXT) STRICT;
    CREATE INDEX message_by_run ON message (run) WHERE answer IS NULL;

    CREATE TABLE worker (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL) STRICT;

    CREATE TABLE evidence (
        hash BLOB NOT NULL, run INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (hash, run, seq)
    ) STRICT, WITHOUT ROWID;
",
    "CREATE INDEX evidence_by_run ON evidence (run, seq)",
    "
    CREATE TABLE store (name BLOB NOT NULL, records INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
    INSERT INTO store VALUES (randomblob(16), 0, zeroblob(32));
    ALTER TABLE run ADD COLUMN seal BLOB;
    ALTER TABLE message ADD COLUMN seal BLOB;
    ALTER TABLE snapshot ADD COLUMN hash BLOB;
",
    "
    -- Which record an id of a sender became, so that repeating it changes nothing.
    CREATE TABLE sent (run INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (run, id)) STRICT, WITHOUT ROWID;

    ALTER TABLE run ADD COLUMN held_since INTEGER;
",
];

/// The first version in which rows carry digests and records are chained across runs.
const SEALED_SINCE: usize = 3;

/// Opens the store for writing, and creates or migrates it if needed.
pub(crate) fn open(path: &Path) -> Result<Connection, Error> {
    let doing = || format!("the store {} could not be opened", path.display());
    let connection = Connection::open(path).map_err(|error| database::error(doing(), &error))?;
    prepare(&connection, path).map_err(|fault| match Error::from(fault) {
        Error::Store { why, trouble, .. } => Error::Store { doing: doing(), why, trouble },
        other => other,
    })?;
    Ok(connection)
}

fn prepare(connection: &Connection, path: &Path) -> Result<()> {
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(64);
    let version = version(connection, path)?;
    to_wal(connection)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", PAGES_PER_CHECKPOINT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if version < known() {
        migrate(connection, path)?;
    }
    Ok(())
}

fn known() -> i64 {
    MIGRATIONS.len() as i64
}

/// Returns additional, missing and different tables and indexes of the database, compared with this version.
pub(crate) fn differences(connection: &Connection) -> Result<Vec<String>> {
    let fresh = Connection::open_in_memory()?;
    MIGRATIONS.iter().try_for_each(|migration| fresh.execute_batch(migration))?;
    let (expected, found) = (objects(&fresh)?, objects(connection)?);
    let mut differences = Vec::new();
    for (object, sql) in &found {
        match expected.get(object) {
            None => differences.push(format!("{object} was added to the store; this version of Interlock has none")),
            Some(known) if known != sql => differences.push(format!("{object} of the store was changed")),
            Some(_) => {}
        }
    }
    let missing = expected.keys().filter(|object| !found.contains_key(*object));
    differences.extend(missing.map(|object| format!("{object} of the store is missing")));
    Ok(differences)
}

/// Returns the definition of each table, index, view and trigger, by kind and name.
fn objects(connection: &Connection) -> Result<BTreeMap<String, String>> {
    // Tables of SQLite itself: the counters of AUTOINCREMENT, and the figures of ANALYZE.
    let sql = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema
         WHERE name NOT IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4')";
    let mut select = connection.prepare(sql)?;
    let rows = select.query_map([], |row| {
        let (kind, name, sql): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((format!("the {kind} `{name}`"), sql.split_whitespace().collect::<Vec<_>>().join(" ")))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Checks that a store which cannot be written has the tables that this version reads.
pub(crate) fn is_current(connection: &Connection, path: &Path) -> Result<(), Error> {
    let found = version(connection, path)?;
    if found == known() {
        return Ok(());
    }
    let doing = format!("the store {} could not be read", path.display());
    let why = format!("it has the format {found} of an earlier version, and it is read-only, so it cannot be updated");
    Err(Error::Store { doing, why, trouble: Trouble::ReadOnly })
}

fn version(connection: &Connection, path: &Path) -> Result<i64> {
    let is_foreign = is_foreign(connection)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if is_foreign {
        let why = "it is the database of another program".into();
        return Err(Error::Store { doing: String::new(), why, trouble: Trouble::Foreign }.into());
    }
    if found > known() {
        return Err(Error::Newer { path: path.to_owned(), found, known: known() }.into());
    }
    Ok(found)
}

/// Migrates the store in one transaction. If two processes do this at once, the second finds it done.
fn migrate(connection: &Connection, path: &Path) -> Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done: Result<()> = (|| {
        let from = usize::try_from(version(connection, path)?).unwrap_or(0);
        for migration in &MIGRATIONS[from..] {
            connection.execute_batch(migration)?;
        }
        // Seal only once: sealing again would vouch for any change that was made in between.
        if from < SEALED_SINCE {
            super::seal::seal_all(connection)?;
            super::chain::extend(connection)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", known())?;
        connection.execute_batch("COMMIT")?;
        Ok(())
    })();
    if done.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}
