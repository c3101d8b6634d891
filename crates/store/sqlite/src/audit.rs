//! Checks the store as a whole: the chain over all runs, rows that belong to no run, and rows that no record vouches for.
//!
//! A run's own records are checked against its chain, its evidence and its machine by the runtime, which can replay them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use interlock_journal::{Definition, Entry, Error, EvidenceStore, Hash, RunKey, StoreHead};
use rusqlite::Connection;

use crate::{
    Result, head_file,
    store::{chain, read, schema, seal},
};

/// The number of rows of one kind that are named before the rest is only counted.
const NAMED_MAX: usize = 20;

/// The result of checking a store.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The end of the chain, computed from the records.
    pub head: StoreHead,
    /// The chain's hash after each requested record, if the store has that many records.
    pub hashes: BTreeMap<u64, Hash>,
    /// Everything that is not as it was written.
    pub problems: Vec<String>,
}

/// Checks a store. `at` lists the numbers of the records after which the caller needs the chain's hash.
pub(crate) fn audit(
    connection: &Connection,
    folder: &Path,
    evidence: &EvidenceStore,
    at: &BTreeSet<u64>,
) -> Result<Audit> {
    // Read the file before the database: a commit between the two reads only makes the database newer.
    let noted = head_file::noted(folder)?;
    let moment = connection.unchecked_transaction()?;
    let mut problems = head_file::losses(folder)?;
    let differences = schema::differences(&moment)?;
    let is_readable = !differences.iter().any(|found| found.starts_with("the table") && found.ends_with("is missing"));
    problems.extend(shortened(differences));
    if !is_readable {
        let head = StoreHead { store: String::new(), records: 0, hash: Hash::NONE };
        return Ok(Audit { head, hashes: BTreeMap::new(), problems });
    }
    let stored = chain::head(&moment)?;
    let mut wanted = at.clone();
    wanted.extend(noted.map(|noted| noted.records));
    let mut found = Audit { head: stored.clone(), hashes: BTreeMap::new(), problems };
    check_chain(&moment, &stored, &wanted, &mut found)?;
    check_note(noted, &stored, &mut found);
    check_strays(&moment, &mut found.problems)?;
    check_leases(&moment, &mut found.problems)?;
    check_snapshots(&moment, &mut found.problems)?;
    check_messages(&moment, &mut found.problems)?;
    check_sent(&moment, evidence, &mut found.problems)?;
    check_definitions(&moment, &mut found.problems)?;
    found.hashes.retain(|records, _| at.contains(records));
    Ok(found)
}

fn check_chain(moment: &Connection, stored: &StoreHead, wanted: &BTreeSet<u64>, found: &mut Audit) -> Result<()> {
    let (mut hash, mut last, mut gaps) = (Hash::NONE, 0, Vec::new());
    if wanted.contains(&0) {
        found.hashes.insert(0, hash);
    }
    chain::walk(moment, 0, |id, record| {
        if id != last + 1 {
            gaps.push(format!("records {} to {} of the store are missing", last + 1, id - 1));
        }
        (hash, last) = (chain::link(&hash, id, record), id);
        if wanted.contains(&id) {
            found.hashes.insert(id, hash);
        }
    })?;
    found.problems.extend(shortened(gaps));
    (found.head.records, found.head.hash) = (last, hash);
    if (last, hash) != (stored.records, stored.hash) {
        let (should, why) = (stored.records, if last == stored.records { ", but their chain differs" } else { "" });
        found.problems.push(format!("the store should have {should} records and has {last}{why}"));
    }
    Ok(())
}

fn check_note(noted: Option<head_file::Noted>, stored: &StoreHead, found: &mut Audit) {
    match noted {
        None if stored.records == 0 => {}
        None => found.problems.push("journal.head is missing or damaged; it has the number of records".into()),
        Some(noted) if found.hashes.get(&noted.records) == Some(&noted.hash) || noted.records == 0 => {}
        Some(noted) => found.problems.push(format!(
            "journal.head has {} records ending in {}, which the store's records do not match",
            noted.records, noted.hash
        )),
    }
}

/// Finds rows that refer to a missing run, and runs without records.
fn check_strays(moment: &Connection, problems: &mut Vec<String>) -> Result<()> {
    for (table, what) in [
        ("record", "a record"),
        ("snapshot", "a stored state"),
        ("timer", "a timer"),
        ("message", "a message"),
        ("evidence", "an evidence entry"),
        ("sent", "the id of a sending"),
    ] {
        let sql = format!("SELECT count(*) FROM {table} WHERE run NOT IN (SELECT id FROM run)");
        let count: u64 = moment.query_row(&sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{what} belongs to a run that does not exist ({count} rows of `{table}`)"));
        }
    }
    for (table, what) in [("sent", "the id of a sending"), ("evidence", "an evidence entry")] {
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE run IN (SELECT id FROM run) AND NOT EXISTS
             (SELECT 1 FROM record WHERE record.run = {table}.run AND record.seq = {table}.seq)"
        );
        let count: u64 = moment.query_row(&sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{what} belongs to a record that does not exist ({count} rows of `{table}`)"));
        }
    }
    let empty = "SELECT name FROM run WHERE NOT EXISTS (SELECT 1 FROM record WHERE record.run = run.id)";
    let mut select = moment.prepare(empty)?;
    let rows = select.query_map([], |row| row.get::<_, String>(0))?;
    let names = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    problems.extend(shortened(names.into_iter().map(|name| format!("run {name} has no records")).collect()));
    Ok(())
}

fn check_leases(moment: &Connection, problems: &mut Vec<String>) -> Result<()> {
    let mut select = moment.prepare("SELECT name, epoch, worker, seal FROM run")?;
    let mut rows = select.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, epoch, worker): (String, i64, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let stored: Option<[u8; 32]> = row.get(3)?;
        if stored != Some(seal::lease(&name, epoch, worker).0) {
            changed.push(format!("the lease of run {name} (epoch {epoch}) was changed"));
        }
    }
    problems.extend(shortened(changed));
    Ok(())
}

/// Checks that every stored state fits its digest. The runtime compares the state with the one that the records lead
/// to.
fn check_snapshots(moment: &Connection, problems: &mut Vec<String>) -> Result<()> {
    let sql =
        "SELECT run.name, snapshot.state, snapshot.hash, record.hash FROM snapshot JOIN run ON run.id = snapshot.run
         LEFT JOIN record ON record.run = snapshot.run AND record.seq = snapshot.seq";
    let mut select = moment.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, state): (String, String) = (row.get(0)?, row.get(1)?);
        let (stored, record): (Option<[u8; 32]>, Option<[u8; 32]>) = (row.get(2)?, row.get(3)?);
        let digest = record.map(|record| seal::snapshot(&Hash(record), &state).0);
        if digest.is_none() || stored != digest {
            changed.push(format!("the stored state of run {name} was changed; its records are used instead"));
        }
    }
    problems.extend(shortened(changed));
    Ok(())
}

fn check_messages(moment: &Connection, problems: &mut Vec<String>) -> Result<()> {
    let mut select = moment.prepare("SELECT id, run, body, answer, seal FROM message")?;
    let mut rows = select.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, run): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (body, answer): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        let stored: Option<[u8; 32]> = row.get(4)?;
        if stored != Some(seal::message(RunKey(run), &body, answer.as_deref()).0) {
            changed.push(format!("message {id} was changed"));
        }
    }
    problems.extend(shortened(changed));
    Ok(())
}

/// Checks that every id of a sending is that of its record. A made-up one would swallow the event that carries the id.
fn check_sent(moment: &Connection, evidence: &EvidenceStore, problems: &mut Vec<String>) -> Result<()> {
    let sql = "SELECT run.name, sent.run, sent.id, sent.seq FROM sent JOIN run ON run.id = sent.run";
    let mut select = moment.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut made_up = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, run, id, seq): (String, i64, String, u64) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let record = read::records(moment, RunKey(run), seq, 1)?.pop().filter(|record| record.seq == seq);
        let entry = record.and_then(|record| record.entry(evidence).ok());
        if entry.as_ref().and_then(Entry::sent_id) != Some(&id) {
            made_up.push(format!("the id `{id}` of a sending to run {name} is not that of record {seq}"));
        }
    }
    problems.extend(shortened(made_up));
    Ok(())
}

/// Checks that every definition has the hash, the machine and the version that its row has.
fn check_definitions(moment: &Connection, problems: &mut Vec<String>) -> Result<()> {
    let mut select = moment.prepare("SELECT hash FROM definition")?;
    let hashes = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let wrong = hashes.iter().filter_map(|hash| {
        let definition = read::definition(moment, hash);
        definition
            .map_err(Error::from)
            .and_then(|definition| matches_chart(&definition))
            .err()
            .map(|error| error.to_string())
    });
    problems.extend(shortened(wrong.collect()));
    Ok(())
}

fn matches_chart(definition: &Definition) -> Result<(), Error> {
    let chart = definition.chart()?;
    match (chart.id == definition.machine, chart.version == definition.version) {
        (true, true) => Ok(()),
        _ => Err(Error::Damaged {
            what: format!("the definition {}", definition.hash),
            why: format!("its row has {} version {}", definition.machine, definition.version),
        }),
    }
}

fn shortened(mut problems: Vec<String>) -> Vec<String> {
    let more = problems.len().saturating_sub(NAMED_MAX);
    problems.truncate(NAMED_MAX);
    if more > 0 {
        problems.push(format!("… and {more} more like it"));
    }
    problems
}
