//! Verifies that a stored run is unchanged since it was written.

use std::collections::{BTreeMap, BTreeSet};

use interlock_activity::Registry;
use interlock_journal::{Created, Engine, Entry, Error as JournalError, Hash, Head, Opened, Phase};

use crate::{
    Error, Live, LoadedMachine, Result,
    replay::{CHUNK, replay},
    saved,
};

/// A part of a stored run that cannot be as it was written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The record that it concerns, if it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The evidence file that it concerns, if it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Hash>,
    /// The problem as a sentence for people.
    pub what: String,
}

impl Problem {
    fn record(seq: u64, what: impl Into<String>) -> Self {
        Problem { seq: Some(seq), evidence: None, what: what.into() }
    }

    fn run(what: impl Into<String>) -> Self {
        Problem { seq: None, evidence: None, what: what.into() }
    }
}

/// Checks that a run is as it was written: the chain of its records, every file they refer to, its definition, and that
/// every row of the store about it agrees with the records.
pub fn verify(engine: &dyn Engine, registry: &Registry, head: &Head) -> Result<Vec<Problem>> {
    let mut problems = check_chain(engine, head)?;
    check_evidence_index(engine, head, &mut problems)?;
    match replay_all(engine, registry, head, &mut problems) {
        Ok(()) => {}
        Err(Error::Journal(error @ JournalError::Store { .. })) => return Err(error.into()),
        Err(error) => problems.push(Problem::run(error.to_string())),
    }
    Ok(problems)
}

fn check_chain(engine: &dyn Engine, head: &Head) -> Result<Vec<Problem>> {
    let (mut problems, mut before, mut next) = (Vec::new(), Hash::NONE, 1);
    loop {
        let records = engine.records(head.key, next, CHUNK)?;
        for record in &records {
            if record.seq != next {
                problems.push(Problem::record(next, format!("missing: the next one there is {}", record.seq)));
            }
            if !record.follows(&head.name, &before) {
                problems
                    .push(Problem::record(record.seq, "its hash does not match its content and the previous record"));
            }
            if let Some(Some(file)) = record.payload_file()
                && let Err(error) = engine.evidence().check(&file)
            {
                problems.push(Problem { seq: Some(record.seq), evidence: Some(file), what: error.to_string() });
            }
            match engine.entry(record) {
                Ok(entry) => {
                    check_evidence(engine, record.seq, &entry, &mut problems);
                    check_sent(engine, head, record.seq, &entry, &mut problems)?;
                }
                Err(error) => problems.push(Problem::record(record.seq, error.to_string())),
            }
            (before, next) = (record.hash, record.seq + 1);
        }
        if records.len() < CHUNK {
            break;
        }
    }
    if (next - 1, before) != (head.seq, head.hash) {
        problems.push(Problem::run(format!("the last record should be {}, but it is {}", head.seq, next - 1)));
    }
    Ok(problems)
}

fn check_evidence(engine: &dyn Engine, seq: u64, entry: &Entry, problems: &mut Vec<Problem>) {
    for evidence in entry.evidence() {
        if let Err(error) = engine.evidence().check(&evidence.hash) {
            problems.push(Problem { seq: Some(seq), evidence: Some(evidence.hash), what: error.to_string() });
        }
    }
}

/// The index of ids must name the record of each id: an event with a missing id would be accepted a second time.
fn check_sent(engine: &dyn Engine, head: &Head, seq: u64, entry: &Entry, problems: &mut Vec<Problem>) -> Result<()> {
    if let Some(id) = entry.sent_id()
        && engine.sent(head.key, id)? != Some(seq)
    {
        problems.push(Problem::record(seq, format!("the index of ids does not name it for `{id}`")));
    }
    Ok(())
}

/// The index of evidence must name exactly the files that the records refer to: `gc` relies on it.
fn check_evidence_index(engine: &dyn Engine, head: &Head, problems: &mut Vec<Problem>) -> Result<()> {
    let (mut used, mut next) = (BTreeSet::new(), 1);
    loop {
        let records = engine.records(head.key, next, CHUNK)?;
        for record in &records {
            used.extend(record.payload_file().flatten().map(|file| (record.seq, file)));
            let entry = engine.entry(record).ok();
            used.extend(entry.iter().flat_map(Entry::evidence).map(|evidence| (record.seq, evidence.hash)));
            next = record.seq + 1;
        }
        if records.len() < CHUNK {
            break;
        }
    }
    let index = engine.evidence_index(head.key)?;
    let of = |what: &'static str| {
        move |(seq, file): &(u64, Hash)| Problem { seq: Some(*seq), evidence: Some(*file), what: what.into() }
    };
    problems.extend(used.difference(&index).map(of("the index of evidence lacks a file that it refers to")));
    problems.extend(index.difference(&used).map(of("the index of evidence has a file that it does not refer to")));
    Ok(())
}

/// The replay may use a machine that this process compiled earlier, so the stored definition is checked by itself.
fn check_definition(engine: &dyn Engine, hash: &str) -> Result<()> {
    let stored = engine.definition(hash)?;
    let is_known = LoadedMachine::known(hash).is_some_and(|known| *known.definition == stored);
    if !is_known {
        stored.chart()?;
    }
    Ok(())
}

fn replay_all(engine: &dyn Engine, registry: &Registry, head: &Head, problems: &mut Vec<Problem>) -> Result<()> {
    check_definition(engine, &head.definition)?;
    let opened = engine.open(head.key)?;
    let created = check_row(engine, &opened, problems)?;
    let timers: BTreeMap<_, _> = opened.timers.iter().copied().collect();
    let mut at_snapshot = None;
    let stored = opened.snapshot;
    let live = replay(engine, head, head.seq, |frame| {
        if stored.as_ref().is_some_and(|(seq, _)| *seq == frame.record.seq) {
            at_snapshot = stored.as_ref().map(|(_, json)| saved::is_of(frame.live, json));
        }
    })?;
    if let Some((seq, _)) = stored
        && at_snapshot != Some(true)
    {
        problems.push(Problem::record(seq, "the stored state differs from the replayed state"));
    }
    if live.place() != head.place {
        let what = format!("the records lead to {}, not to {}", live.place(), head.place);
        problems.push(Problem::run(what));
    }
    // A fork waits until it is resumed, even if activities were under way in the original run.
    let is_fresh_fork =
        created.as_ref().and_then(|created| created.fork.as_ref()).is_some_and(|fork| fork.at == head.seq);
    if !is_fresh_fork && !is_phase_possible(&live, registry, head.phase) {
        let what = format!("the records lead to the phase {}, not {}", live.phase(registry).word(), head.phase.word());
        problems.push(Problem::run(what));
    }
    if timers != live.timers {
        problems.push(Problem::run("its timers differ from those that the records set"));
    }
    Ok(())
}

/// An activity that was never attempted may have been installed or removed since then. In that case the run may be
/// active or waiting. Older versions did not call a run active while an attempt was stopping.
fn is_phase_possible(live: &Live, registry: &Registry, phase: Phase) -> bool {
    let is_open = live.activities.values().any(|begun| begun.number == 0 && begun.left.is_none());
    let moves = [Phase::Active, Phase::Waiting];
    let found = live.phase(registry);
    found == phase || !live.stopping.is_empty() || (is_open && moves.contains(&found) && moves.contains(&phase))
}

/// The run's row must agree with its first and its last record.
fn check_row(engine: &dyn Engine, opened: &Opened, problems: &mut Vec<Problem>) -> Result<Option<Created>> {
    let Entry::Created(created) = engine.entry(&opened.first)? else {
        problems.push(Problem::record(1, "it does not start the run"));
        return Ok(None);
    };
    let head = &opened.head;
    let last = engine.records(head.key, head.seq, 1)?;
    let updated = last.first().map_or(head.updated_ms, |record| record.at_ms);
    for (field, is_right) in [
        ("machine", created.machine == head.machine),
        ("definition", created.definition == head.definition),
        // A fork has the first record of the run it was made from, and no parent.
        ("parent", created.fork.is_some() || created.parent == head.parent),
        ("created", opened.first.at_ms == head.created_ms),
        ("updated", updated == head.updated_ms),
    ] {
        if !is_right {
            problems.push(Problem::run(format!("`{field}` in the list of runs differs from its records")));
        }
    }
    Ok(Some(created))
}
