//! Reads runs, their records and their evidence from the tables.

use std::collections::{BTreeMap, BTreeSet};

use interlock_core::TimerId;
use interlock_journal::{Change, Definition, Error, Filter, Hash, Head, Opened, Phase, Record, RunKey};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter, types::Value as Sql};

use crate::{Result, store::seal};

const HEAD: &str = "SELECT id, name, machine, definition, parent, created, updated, seq, hash, phase, place, epoch,
     (SELECT min(due) FROM timer WHERE timer.run = run.id) FROM run";

fn to_head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let phase: usize = row.get(9)?;
    Ok(Head {
        key: RunKey(row.get(0)?),
        name: row.get(1)?,
        machine: row.get(2)?,
        definition: row.get(3)?,
        parent: row.get(4)?,
        created_ms: row.get(5)?,
        updated_ms: row.get(6)?,
        seq: row.get(7)?,
        hash: Hash(row.get(8)?),
        phase: Phase::ALL.get(phase).copied().unwrap_or(Phase::Active),
        place: row.get(10)?,
        epoch: row.get(11)?,
        due_ms: row.get(12)?,
    })
}

pub(crate) fn find(connection: &Connection, name: &str) -> Result<Option<Head>> {
    Ok(connection.prepare_cached(&format!("{HEAD} WHERE name = ?1"))?.query_row([name], to_head).optional()?)
}

pub(crate) fn head(connection: &Connection, run: RunKey) -> Result<Head> {
    let found = connection.prepare_cached(&format!("{HEAD} WHERE id = ?1"))?.query_row([run.0], to_head).optional()?;
    Ok(found.ok_or_else(|| Error::NoRun(format!("#{}", run.0)))?)
}

pub(crate) fn list(connection: &Connection, filter: &Filter) -> Result<Vec<Head>> {
    let (wanted, values) = selection(filter);
    let at_most = if filter.at_most == 0 { -1 } else { i64::try_from(filter.at_most).unwrap_or(i64::MAX) };
    let sql = format!("{HEAD}{wanted} ORDER BY id DESC LIMIT {at_most}");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(values), to_head)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn count(connection: &Connection, filter: &Filter) -> Result<BTreeMap<Phase, u64>> {
    let (wanted, values) = selection(&Filter { before: None, ..filter.clone() });
    let mut statement = connection.prepare(&format!("SELECT phase, count(*) FROM run{wanted} GROUP BY phase"))?;
    let rows =
        statement.query_map(params_from_iter(values), |row| Ok((row.get::<_, usize>(0)?, row.get::<_, u64>(1)?)))?;
    let known = |(phase, count): (usize, u64)| Some((*Phase::ALL.get(phase)?, count));
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().filter_map(known).collect())
}

/// Returns the condition of a selection, and its values.
fn selection(filter: &Filter) -> (String, Vec<Sql>) {
    let (mut clauses, mut values) = (Vec::new(), Vec::<Sql>::new());
    if let Some(machine) = &filter.machine {
        clauses.push("machine = ?".to_owned());
        values.push(machine.clone().into());
    }
    if let Some(prefix) = &filter.prefix {
        // The range uses the index of names; the exact comparison decides.
        clauses.push("name >= ? AND name < ? || char(1114111) AND substr(name, 1, length(?)) = ?".to_owned());
        values.extend(std::iter::repeat_n(Sql::from(prefix.clone()), 4));
    }
    if let Some(before) = filter.before {
        clauses.push("id < ?".to_owned());
        values.push(before.0.into());
    }
    if !filter.phases.is_empty() {
        let numbers = filter.phases.iter().filter_map(|phase| Phase::ALL.iter().position(|known| known == phase));
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        clauses.push(format!("phase IN ({})", numbers.join(", ")));
    }
    let wanted = if clauses.is_empty() { String::new() } else { format!(" WHERE {}", clauses.join(" AND ")) };
    (wanted, values)
}

/// Reads everything from one snapshot of the database: a reader in WAL mode never sees half of a commit.
pub(crate) fn open(connection: &Connection, run: RunKey) -> Result<Opened> {
    let moment = connection.unchecked_transaction()?;
    let head = head(&moment, run)?;
    let snapshot = snapshot(&moment, run)?;
    let from = snapshot.as_ref().map_or(0, |(seq, _)| *seq) + 1;
    let tail = records(&moment, run, from, usize::MAX)?;
    let first = records(&moment, run, 1, 1)?.pop();
    let first = first.ok_or_else(|| Error::Damaged { what: format!("run {}", head.name), why: "no records".into() })?;
    let timers = moment
        .prepare_cached("SELECT timer, due FROM timer WHERE run = ?1")?
        .query_map([run.0], |row| Ok((TimerId(row.get::<_, i64>(0)? as u64), row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Opened { head, first, snapshot, tail, timers })
}

/// Returns the stored state, if its digest fits. A state that does not fit is ignored: the records lead to the true
/// one.
fn snapshot(moment: &Connection, run: RunKey) -> Result<Option<(u64, String)>> {
    let sql = "SELECT snapshot.seq, snapshot.state, snapshot.hash, record.hash FROM snapshot
         JOIN record ON record.run = snapshot.run AND record.seq = snapshot.seq WHERE snapshot.run = ?1";
    let found = moment
        .prepare_cached(sql)?
        .query_row([run.0], |row| {
            let (state, digest): (String, Option<[u8; 32]>) = (row.get(1)?, row.get(2)?);
            let is_good = digest == Some(seal::snapshot(&Hash(row.get(3)?), &state).0);
            Ok((is_good, (row.get(0)?, state)))
        })
        .optional()?;
    Ok(found.and_then(|(is_good, snapshot)| is_good.then_some(snapshot)))
}

pub(crate) fn evidence_index(connection: &Connection, run: RunKey) -> Result<BTreeSet<(u64, Hash)>> {
    let mut select = connection.prepare_cached("SELECT seq, hash FROM evidence WHERE run = ?1")?;
    let rows = select.query_map([run.0], |row| Ok((row.get(0)?, Hash(row.get(1)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn records(connection: &Connection, run: RunKey, from: u64, at_most: usize) -> Result<Vec<Record>> {
    let limit = i64::try_from(at_most).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, kind, payload, hash FROM record WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
    )?;
    let rows = statement.query_map(params![run.0, from, limit], record)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the records of all runs with a higher number than `since`. Commits are serialised, so numbers become visible
/// in their order.
pub(crate) fn changes(connection: &Connection, since: u64, at_most: usize) -> Result<Vec<Change>> {
    let limit = i64::try_from(at_most).unwrap_or(i64::MAX);
    let mut select = connection.prepare_cached("SELECT id, run, seq FROM record WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let change = |row: &Row<'_>| Ok(Change { number: row.get(0)?, run: RunKey(row.get(1)?), seq: row.get(2)? });
    let rows = select.query_map(params![since, limit], change)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the number of the last record of all runs; 0 if there is none.
pub(crate) fn last_change(connection: &Connection) -> Result<u64> {
    let mut select = connection.prepare_cached("SELECT coalesce(max(id), 0) FROM record")?;
    Ok(select.query_row([], |row| row.get(0))?)
}

/// Returns the record of the entry to which a sender gave this id.
pub(crate) fn sent(connection: &Connection, run: RunKey, id: &str) -> Result<Option<u64>> {
    let mut select = connection.prepare_cached("SELECT seq FROM sent WHERE run = ?1 AND id = ?2")?;
    Ok(select.query_row(params![run.0, id], |row| row.get(0)).optional()?)
}

/// Returns the hashes of the evidence that records refer to.
pub(crate) fn evidence_in_use(connection: &Connection) -> Result<BTreeSet<Hash>> {
    let mut select = connection.prepare("SELECT DISTINCT hash FROM evidence")?;
    let rows = select.query_map([], |row| row.get(0).map(Hash))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the records of a run that refer to files.
pub(crate) fn records_with_evidence(connection: &Connection, run: RunKey) -> Result<Vec<Record>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, kind, payload, hash FROM record
         WHERE run = ?1 AND seq IN (SELECT seq FROM evidence WHERE run = ?1) ORDER BY seq",
    )?;
    let rows = statement.query_map([run.0], record)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        seq: row.get(0)?,
        at_ms: row.get(1)?,
        kind: row.get(2)?,
        payload: row.get(3)?,
        hash: Hash(row.get(4)?),
    })
}

pub(crate) fn definition(connection: &Connection, hash: &str) -> Result<Definition> {
    let found = connection
        .prepare_cached("SELECT machine, version, packed FROM definition WHERE hash = ?1")?
        .query_row([hash], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?, row.get::<_, Vec<u8>>(2)?)))
        .optional()?;
    let (machine, version, packed) = found.ok_or_else(|| Error::NoDefinition(hash.to_owned()))?;
    Ok(Definition::unpack(hash, machine, version, &packed)?)
}
