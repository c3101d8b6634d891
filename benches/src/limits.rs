//! The speed of the disk and of SQLite alone: nothing durable is faster.

use std::{fs::File, io::Write, path::Path, time::Instant};

use rusqlite::Connection;

use crate::{Result, size};

/// The assumed size of one record.
const RECORD_BYTES: usize = 300;

/// Records made durable in one sync.
const TOGETHER: usize = 64;

/// Measures calls per second.
fn rate(times: usize, mut each: impl FnMut() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    for _ in 0..times {
        each()?;
    }
    Ok(times as f64 / begun.elapsed().as_secs_f64())
}

/// Appends with fdatasync per second: with one record per sync, and records per second with 64 per sync.
pub(crate) fn disk(folder: &Path) -> Result<(f64, f64)> {
    let mut file = File::create(folder.join("raw"))?;
    let record = [7; RECORD_BYTES];
    let mut append = |count: usize| -> Result<()> {
        for _ in 0..count {
            file.write_all(&record)?;
        }
        Ok(file.sync_data()?)
    };
    let alone = rate(size(1_000, 5), || append(1))?;
    let together = rate(size(300, 2), || append(TOGETHER))? * TOGETHER as f64;
    Ok((alone, together))
}

/// Rows per second that plain SQLite inserts (WAL, synchronous FULL), each in a separate transaction.
pub(crate) fn sqlite(folder: &Path, rows: usize) -> Result<f64> {
    let connection = plain(folder)?;
    rate(rows, || insert(&connection, 1))
}

/// Rows per second with 64 rows per transaction.
pub(crate) fn sqlite_together(folder: &Path) -> Result<f64> {
    let connection = plain(folder)?;
    Ok(rate(size(300, 2), || insert(&connection, TOGETHER))? * TOGETHER as f64)
}

fn plain(folder: &Path) -> Result<Connection> {
    let connection = Connection::open(folder.join("plain.sqlite"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch("CREATE TABLE row (id INTEGER PRIMARY KEY, data BLOB)")?;
    Ok(connection)
}

fn insert(connection: &Connection, rows: usize) -> Result<()> {
    let transaction = connection.unchecked_transaction()?;
    for _ in 0..rows {
        transaction.prepare_cached("INSERT INTO row (data) VALUES (?1)")?.execute([[7_u8; RECORD_BYTES]])?;
    }
    Ok(transaction.commit()?)
}
