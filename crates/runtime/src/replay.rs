//! Going back over a run's records: every frame of it, whether it holds together, and a new run from any of them.

use std::sync::Arc;

use interlock_core::Trace;
use interlock_journal::{
    Append, Engine, Entry, Error as JournalError, Fork, Hash, Head, NewRun, Phase, Record, TimerChange,
};

use crate::{Error, Live, Loaded, Move, Result, fresh_name, moves, saved};

/// Records read at a time.
const CHUNK: usize = 1_000;

/// A run after one of its records.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The record.
    pub record: &'a Record,
    /// What it says.
    pub entry: &'a Entry,
    /// The transitions it led to.
    pub moves: Vec<Move>,
    /// Everything the engine did about it.
    pub trace: Trace,
    /// The run after it.
    pub live: &'a Live,
}

/// Goes through a run from its beginning, up to and including record `until`; returns it as it was then.
pub fn replay(engine: &dyn Engine, head: &Head, until: u64, mut see: impl FnMut(Frame<'_>)) -> Result<Live> {
    let loaded = Arc::new(Loaded::new(engine.definition(&head.definition)?)?);
    let mut live = Live::new(
        head.name.as_str().into(),
        loaded,
        Default::default(),
        head.parent.clone(),
        engine.evidence().clone(),
    );
    live.key = head.key;
    let mut next = 1;
    while next <= until {
        let wanted = CHUNK.min(usize::try_from(until - next + 1).unwrap_or(CHUNK));
        let records = engine.records(head.key, next, wanted)?;
        if records.is_empty() {
            break;
        }
        for record in &records {
            let entry = engine.entry(record)?;
            let (moves, trace) = live.relive(record, &entry);
            see(Frame { record, entry: &entry, moves, trace, live: &live });
        }
        next += records.len() as u64;
    }
    Ok(live)
}

impl Live {
    /// Lets a record happen again, and says why it went as it did.
    pub fn relive(&mut self, record: &Record, entry: &Entry) -> (Vec<Move>, Trace) {
        if let Entry::Created(created) = entry {
            self.folder = created.folder.clone().map(Into::into).unwrap_or_default();
        }
        let (mut why, before) = (moves::Why::default(), self.state.counters.clone());
        self.fold(entry, record.at_ms, &mut why);
        self.seq = record.seq;
        (moves::with_values(self, record.seq, record.at_ms, entry, &why, &before), why.trace)
    }
}

/// Something about a run that cannot be as it was written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The record it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The file it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Hash>,
    /// What is wrong.
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

/// Checks that a run is what was written: the chain of its records, every file they refer to, its definition, and that folding the records
/// gives the state that is stored.
pub fn verify(engine: &dyn Engine, head: &Head) -> Result<Vec<Problem>> {
    let mut problems = check_chain(engine, head)?;
    match replay_all(engine, head, &mut problems) {
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
                problems.push(Problem::record(record.seq, "its hash does not fit its content and the record before"));
            }
            if let Some(Some(file)) = record.payload_file()
                && let Err(error) = engine.evidence().check(&file)
            {
                problems.push(Problem { seq: Some(record.seq), evidence: Some(file), what: error.to_string() });
            }
            match engine.entry(record) {
                Ok(entry) => check_evidence(engine, record.seq, &entry, &mut problems),
                Err(error) => problems.push(Problem::record(record.seq, error.to_string())),
            }
            (before, next) = (record.hash, record.seq + 1);
        }
        if records.len() < CHUNK {
            break;
        }
    }
    if (next - 1, before) != (head.seq, head.hash) {
        problems.push(Problem::run(format!("it should end with record {}, and its last is {}", head.seq, next - 1)));
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

fn replay_all(engine: &dyn Engine, head: &Head, problems: &mut Vec<Problem>) -> Result<()> {
    let opened = engine.open(head.key)?;
    let mut at_snapshot = None;
    let stored = opened.snapshot;
    let live = replay(engine, head, head.seq, |frame| {
        if stored.as_ref().is_some_and(|(seq, _)| *seq == frame.record.seq) {
            at_snapshot = Some(saved::save(frame.live));
        }
    })?;
    if let Some((seq, json)) = stored
        && at_snapshot.as_ref() != Some(&json)
    {
        problems.push(Problem::record(seq, "the state stored after it is not what the records lead to"));
    }
    if live.place() != head.place {
        let what = format!("the records lead to {}, not to {}", live.place(), head.place);
        problems.push(Problem::run(what));
    }
    Ok(())
}

/// Makes a new run that shares the first records of another, up to and including `at`.
pub fn fork(engine: &dyn Engine, head: &Head, at: u64, by: interlock_journal::By) -> Result<NewRun> {
    if at == 0 || at > head.seq {
        return Err(Error::State {
            run: head.name.clone(),
            why: format!("it has no record {at}, only 1 to {}", head.seq),
        });
    }
    let name = fresh_name(&head.machine);
    let (mut entries, mut evidence) = (Vec::new(), Vec::new());
    let live = replay(engine, head, at, |frame| {
        evidence.extend(frame.entry.evidence().iter().map(|file| (entries.len(), file.clone())));
        let entry = match frame.entry.clone() {
            Entry::Created(mut created) => {
                created.fork = Some(Fork { run: head.name.clone(), at });
                created.by = by.clone();
                Entry::Created(created)
            }
            entry => entry,
        };
        entries.push((frame.record.at_ms, entry));
    })?;
    let records = entries.iter().map(|(at_ms, entry)| engine.record(*at_ms, entry)).collect::<Result<Vec<_>, _>>()?;
    let timers = live.timers.iter().map(|(timer, due_ms)| TimerChange::Set { timer: *timer, due_ms: *due_ms });
    let first = Append {
        records,
        evidence,
        phase: if live.state.is_done() { head.phase } else { Phase::Waiting },
        place: live.place(),
        snapshot: Some(saved::save(&live)),
        timers: timers.collect(),
        answer: None,
    };
    Ok(NewRun {
        name,
        machine: head.machine.clone(),
        definition: head.definition.clone(),
        parent: None,
        claim: false,
        first,
    })
}
