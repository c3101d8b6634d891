//! Leases: the workers, and the runs that each of them owns.

use interlock_journal::{Claim, Error, Lease, RunKey, Work};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Result, worker::worker_name};

pub(crate) fn register(connection: &Connection, pid: u32) -> Result<i64> {
    connection.prepare_cached("INSERT INTO worker (pid) VALUES (?1)")?.execute([pid])?;
    Ok(connection.last_insert_rowid())
}

/// Claims a run, unless its owner is alive. Every claim has a new epoch, even if the worker owned the run before.
pub(crate) fn claim(
    connection: &Connection,
    run: RunKey,
    me: i64,
    now_ms: i64,
    is_alive: impl Fn(i64) -> bool,
) -> Result<Claim> {
    let held: Option<(Option<i64>, i64)> = connection
        .prepare_cached("SELECT worker, epoch FROM run WHERE id = ?1")?
        .query_row([run.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (holder, epoch) = held.ok_or_else(|| Error::NoRun(format!("#{}", run.0)))?;
    if let Some(holder) = holder.filter(|holder| *holder != me && is_alive(*holder)) {
        return Ok(Claim::Held { worker: worker_name(pid(connection, holder)?.unwrap_or(0)) });
    }
    let epoch = epoch + 1;
    connection
        .prepare_cached("UPDATE run SET worker = ?2, epoch = ?3, held_since = ?4 WHERE id = ?1")?
        .execute(params![run.0, me, epoch, now_ms])?;
    super::seal::seal_lease(connection, run)?;
    Ok(Claim::Ours(Lease { epoch }))
}

pub(crate) fn release(connection: &Connection, run: RunKey, lease: Lease) -> Result<()> {
    connection
        .prepare_cached("UPDATE run SET worker = NULL WHERE id = ?1 AND epoch = ?2")?
        .execute(params![run.0, lease.epoch])?;
    super::seal::seal_lease(connection, run)
}

pub(crate) fn pid(connection: &Connection, worker: i64) -> Result<Option<u32>> {
    let mut select = connection.prepare_cached("SELECT pid FROM worker WHERE id = ?1")?;
    Ok(select.query_row([worker], |row| row.get(0)).optional()?)
}

/// Returns the worker that owns a run, alive or not, and the time of its claim.
pub(crate) fn holder(connection: &Connection, run: RunKey) -> Result<Option<(i64, Option<i64>)>> {
    let mut select =
        connection.prepare_cached("SELECT worker, held_since FROM run WHERE id = ?1 AND worker IS NOT NULL")?;
    Ok(select.query_row([run.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Returns the work for the worker `me`: runs that are active or due and have no living owner, and the runs of `me`
/// that have messages.
pub(crate) fn work(
    connection: &Connection,
    me: Option<i64>,
    now_ms: i64,
    is_alive: impl Fn(i64) -> bool,
) -> Result<Work> {
    let free = |held: Option<i64>| held.is_none_or(|worker| Some(worker) != me && !is_alive(worker));
    let runs = |sql: &str, now: Option<i64>| -> Result<Vec<(RunKey, Option<i64>)>> {
        let mut select = connection.prepare_cached(sql)?;
        let row = |row: &rusqlite::Row<'_>| Ok((RunKey(row.get(0)?), row.get(1)?));
        let rows: rusqlite::Result<_> = match now {
            Some(now) => select.query_map([now], row)?.collect(),
            None => select.query_map([], row)?.collect(),
        };
        Ok(rows?)
    };
    let unheld =
        |found: Vec<(RunKey, Option<i64>)>| found.into_iter().filter(|(_, held)| free(*held)).map(|(run, _)| run);
    let orphans = unheld(runs("SELECT id, worker FROM run WHERE phase = 0", None)?).collect();
    let due = "SELECT DISTINCT run.id, run.worker FROM timer JOIN run ON run.id = timer.run WHERE timer.due <= max(?1, run.updated) AND run.phase <> 2";
    let due = unheld(runs(due, Some(now_ms))?).collect();
    let mine =
        "SELECT DISTINCT run.id, run.worker FROM message JOIN run ON run.id = message.run WHERE message.answer IS NULL";
    let messages = runs(mine, None)?.into_iter().filter(|(_, held)| held.is_some() && *held == me).map(|(run, _)| run);
    let messages = messages.collect();
    let next_due_ms = connection
        .prepare_cached("SELECT min(due) FROM timer WHERE due > ?1")?
        .query_row([now_ms], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(Work { orphans, due, messages, next_due_ms })
}

/// Removes workers that are dead and own nothing, and returns their ids, so that the caller can remove their files.
pub(crate) fn forget_dead(connection: &Connection, is_alive: impl Fn(i64) -> bool) -> Result<Vec<i64>> {
    let mut select = connection.prepare_cached(
        "SELECT id FROM worker WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.worker = worker.id) LIMIT 1000",
    )?;
    let idle: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let dead: Vec<i64> = idle.into_iter().filter(|worker| !is_alive(*worker)).collect();
    for worker in &dead {
        connection.prepare_cached("DELETE FROM worker WHERE id = ?1")?.execute([worker])?;
    }
    Ok(dead)
}
