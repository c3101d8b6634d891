//! Creates runs and appends records to them.

use interlock_journal::{
    Append, Definition, Error, Hash, Head, Lease, NewRun, Phase, Record, RunKey, TimerChange, Unchained,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    Result,
    store::{read, seal},
};

pub(crate) fn define(connection: &Connection, definition: &Definition, packed: &[u8]) -> Result<()> {
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO definition VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute(params![definition.hash, definition.machine, definition.version, packed])?;
    Ok(())
}

pub(crate) fn create(connection: &Connection, new: NewRun, worker: Option<i64>) -> Result<Head> {
    if read::find(connection, &new.name)?.is_some() {
        return Err(Error::Exists(new.name).into());
    }
    let defined: Option<i64> = connection
        .prepare_cached("SELECT 1 FROM definition WHERE hash = ?1")?
        .query_row([&new.definition], |row| row.get(0))
        .optional()?;
    if defined.is_none() {
        return Err(Error::NoDefinition(new.definition).into());
    }
    let at = new.first.records.first().map_or(0, |record| record.at_ms);
    let epoch = i64::from(worker.is_some());
    connection
        .prepare_cached(
            "INSERT INTO run (name, machine, definition, parent, created, updated, seq, hash, phase, place, worker, epoch, held_since)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, 0, ?6, 0, '', ?7, ?8, ?5)",
        )?
        .execute(params![new.name, new.machine, new.definition, new.parent, at, Hash::NONE.0, worker, epoch])?;
    let key = RunKey(connection.last_insert_rowid());
    seal::seal_lease(connection, key)?;
    append(connection, key, 0, Lease { epoch }, new.first)?;
    read::head(connection, key)
}

/// Appends records. It updates the run's row first, on the condition that the run is as expected: a conflicting append
/// is refused before anything is written.
pub(crate) fn append(connection: &Connection, run: RunKey, after: u64, lease: Lease, append: Append) -> Result<u64> {
    let (name, seq, before, epoch) = place(connection, run)?;
    if epoch != lease.epoch {
        return Err(Error::Fenced { run: name }.into());
    }
    if seq != after {
        return match is_there(connection, run, &name, after, &append.records)? {
            true => Ok(after + append.records.len() as u64),
            false => Err(Error::Conflict { run: name, expected: after, found: seq }.into()),
        };
    }
    let elsewhere = append.records.iter().enumerate().filter_map(|(at, record)| Some((at, record.elsewhere?)));
    let used = append.evidence.iter().map(|(at, evidence)| (*at, evidence.hash));
    let used: Vec<(usize, Hash)> = elsewhere.chain(used).collect();
    let sent = append.records.iter().enumerate().filter_map(|(at, record)| Some((at, record.sent.clone()?)));
    let sent: Vec<(usize, String)> = sent.collect();
    for (_, id) in &sent {
        if let Some(seq) = read::sent(connection, run, id)? {
            return Err(Error::Repeated { run: name, id: id.clone(), seq }.into());
        }
    }
    let records = chain(&name, seq, before, append.records);
    for record in &records {
        insert(connection, run, record)?;
    }
    if let Some(last) = records.last() {
        move_head(connection, run, last, append.phase, &append.place)?;
    }
    for (position, hash) in used {
        connection.prepare_cached("INSERT OR IGNORE INTO evidence VALUES (?1, ?2, ?3)")?.execute(params![
            hash.0,
            run.0,
            after + 1 + position as u64
        ])?;
    }
    for (position, id) in sent {
        connection.prepare_cached("INSERT INTO sent VALUES (?1, ?2, ?3)")?.execute(params![
            run.0,
            id,
            after + 1 + position as u64
        ])?;
    }
    let last = after + records.len() as u64;
    if let (Some(state), Some(record)) = (append.snapshot, records.last()) {
        connection.prepare_cached("INSERT OR REPLACE INTO snapshot VALUES (?1, ?2, ?3, ?4)")?.execute(params![
            run.0,
            last,
            state,
            seal::snapshot(&record.hash, &state).0
        ])?;
    }
    for change in append.timers {
        change_timer(connection, run, change)?;
    }
    if let Some((message, answer)) = append.answer {
        super::messages::answer(connection, message, &answer)?;
    }
    Ok(last)
}

fn place(connection: &Connection, run: RunKey) -> Result<(String, u64, Hash, i64)> {
    let found = connection
        .prepare_cached("SELECT name, seq, hash, epoch FROM run WHERE id = ?1")?
        .query_row([run.0], |row| Ok((row.get(0)?, row.get(1)?, Hash(row.get(2)?), row.get(3)?)))
        .optional()?;
    Ok(found.ok_or_else(|| Error::NoRun(format!("#{}", run.0)))?)
}

/// Returns true if a run has exactly these records after `after`: then this append is a repetition, because the first
/// answer was lost.
fn is_there(connection: &Connection, run: RunKey, name: &str, after: u64, records: &[Unchained]) -> Result<bool> {
    if records.is_empty() {
        return Ok(false);
    }
    let hash_at =
        |seq: u64| read::records(connection, run, seq, 1).map(|found| found.first().map(|record| record.hash));
    let before = match after {
        0 => Some(Hash::NONE),
        _ => hash_at(after)?,
    };
    let Some(before) = before else { return Ok(false) };
    let stored = read::records(connection, run, after + 1, records.len())?;
    Ok(stored == chain(name, after, before, records.to_vec()))
}

fn chain(run: &str, after: u64, before: Hash, records: Vec<Unchained>) -> Vec<Record> {
    let (mut seq, mut before) = (after, before);
    let chained = records.into_iter().map(|record| {
        seq += 1;
        let record = record.chained(run, seq, &before);
        before = record.hash;
        record
    });
    chained.collect()
}

fn insert(connection: &Connection, run: RunKey, record: &Record) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO record (run, seq, at, kind, payload, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![run.0, record.seq, record.at_ms, record.kind, record.payload, record.hash.0])?;
    Ok(())
}

fn move_head(connection: &Connection, run: RunKey, last: &Record, phase: Phase, place: &str) -> Result<()> {
    let phase = Phase::ALL.iter().position(|known| *known == phase).unwrap_or(0) as i64;
    connection
        .prepare_cached("UPDATE run SET updated = ?2, seq = ?3, hash = ?4, phase = ?5, place = ?6 WHERE id = ?1")?
        .execute(params![run.0, last.at_ms, last.seq, last.hash.0, phase, place])?;
    Ok(())
}

fn change_timer(connection: &Connection, run: RunKey, change: TimerChange) -> Result<()> {
    match change {
        TimerChange::Set { timer, due_ms } => connection
            .prepare_cached("INSERT OR REPLACE INTO timer VALUES (?1, ?2, ?3)")?
            .execute(params![run.0, timer.0 as i64, due_ms])?,
        TimerChange::Clear { timer } => connection
            .prepare_cached("DELETE FROM timer WHERE run = ?1 AND timer = ?2")?
            .execute(params![run.0, timer.0 as i64])?,
    };
    Ok(())
}
