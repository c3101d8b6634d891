//! Digests of rows that no record vouches for: leases, messages and stored states.
//!
//! A digest detects damage and careless edits. An attacker who recomputes it is detected by other means, or not at all:
//! see `docs/durability.md`.

use interlock_journal::{Hash, RunKey};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::Result;

/// Returns the digest of a run's lease.
pub(crate) fn lease(run: &str, epoch: i64, worker: Option<i64>) -> Hash {
    digest(&[b"lease", run.as_bytes(), &epoch.to_le_bytes(), &worker.unwrap_or(0).to_le_bytes()])
}

/// Returns the digest of a message.
pub(crate) fn message(run: RunKey, body: &str, answer: Option<&str>) -> Hash {
    let answer = answer.map_or_else(Vec::new, |answer| [b"=", answer.as_bytes()].concat());
    digest(&[b"message", &run.0.to_le_bytes(), body.as_bytes(), &answer])
}

/// Returns the digest of a state that is stored after a record.
pub(crate) fn snapshot(record: &Hash, state: &str) -> Hash {
    digest(&[b"snapshot", &record.0, state.as_bytes()])
}

/// Returns a digest of parts. Each part is preceded by its length, so that two different lists never produce the same
/// bytes.
fn digest(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Hash(hasher.finalize().into())
}

/// Writes the digest of a run's current lease.
pub(crate) fn seal_lease(connection: &Connection, run: RunKey) -> Result<()> {
    let mut select = connection.prepare_cached("SELECT name, epoch, worker FROM run WHERE id = ?1")?;
    let row = select
        .query_row([run.0], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?)))
        .optional()?;
    if let Some((name, epoch, worker)) = row {
        let mut update = connection.prepare_cached("UPDATE run SET seal = ?2 WHERE id = ?1")?;
        update.execute(params![run.0, lease(&name, epoch, worker).0])?;
    }
    Ok(())
}

/// Writes the digest of a message in its current state.
pub(crate) fn seal_message(connection: &Connection, id: i64) -> Result<()> {
    let mut select = connection.prepare_cached("SELECT run, body, answer FROM message WHERE id = ?1")?;
    let row = select
        .query_row([id], |row| Ok((RunKey(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?)))
        .optional()?;
    if let Some((run, body, answer)) = row {
        let mut update = connection.prepare_cached("UPDATE message SET seal = ?2 WHERE id = ?1")?;
        update.execute(params![id, message(run, &body, answer.as_deref()).0])?;
    }
    Ok(())
}

/// Writes the digests that a store of an older version lacks.
pub(crate) fn seal_all(connection: &Connection) -> Result<()> {
    for run in ids(connection, "SELECT id FROM run")? {
        seal_lease(connection, RunKey(run))?;
    }
    for id in ids(connection, "SELECT id FROM message")? {
        seal_message(connection, id)?;
    }
    let mut select = connection.prepare(
        "SELECT snapshot.run, snapshot.state, record.hash FROM snapshot
         JOIN record ON record.run = snapshot.run AND record.seq = snapshot.seq",
    )?;
    let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, Hash(row.get(2)?))))?;
    for (run, state, record) in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        let digest = snapshot(&record, &state);
        connection.execute("UPDATE snapshot SET hash = ?2 WHERE run = ?1", params![run, digest.0])?;
    }
    Ok(())
}

fn ids(connection: &Connection, sql: &str) -> Result<Vec<i64>> {
    let mut select = connection.prepare(sql)?;
    let rows = select.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
