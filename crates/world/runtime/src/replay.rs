//! Replays a run's records: every frame of a run, and a new run from any of them.

use std::path::Path;

use interlock_chart::model::{Dialect, Kind, Template};
use interlock_core::{Formula, Semantics, Trace};
use interlock_journal::{Append, By, Engine, Entry, Fork, Head, NewRun, Phase, Record, TimerChange};

use crate::{Error, Live, LoadedMachine, Move, Prover, Result, fresh_name, moves, proof, saved};

/// The number of records that are read at a time.
pub(crate) const CHUNK: usize = 1_000;

/// A run after one of its records.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The stored record.
    pub record: &'a Record,
    /// The content of the record.
    pub entry: &'a Entry,
    /// The transitions that it led to.
    pub moves: Vec<Move>,
    /// The engine's trace of the step.
    pub trace: Trace,
    /// The run after the record.
    pub live: &'a Live,
}

/// Replays a run from its beginning up to and including record `until`. Returns the run as it was then.
pub fn replay(engine: &dyn Engine, head: &Head, until: u64, mut see: impl FnMut(Frame<'_>)) -> Result<Live> {
    let loaded = LoadedMachine::shared(engine, &head.definition)?;
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
    /// Applies a record again and returns its moves and trace.
    pub fn relive(&mut self, record: &Record, entry: &Entry) -> (Vec<Move>, Trace) {
        if let Entry::Created(created) = entry {
            crate::fix_place(created);
            self.folder = created.folder.clone().map(Into::into).unwrap_or_default();
        }
        let (mut why, before) = (moves::Why::default(), moves::Before::of(self, entry));
        self.fold(entry, record.at_ms, &mut why);
        (self.seq, self.at_ms) = (record.seq, record.at_ms);
        (moves::with_values(self, record.seq, record.at_ms, entry, &why, &before), why.trace)
    }
}

/// The parameters of a new fork.
#[derive(Clone, Debug)]
pub struct NewFork {
    /// The last record that both runs share.
    pub at: u64,
    /// The person or run that forks.
    pub by: By,
    /// Accepts a machine that `check` refuses. The refusals are then recorded in the new run.
    pub accepts_unproved: bool,
}

/// Refuses a run that keeps older rules than those that `check` proves, if the machine can tell them apart: the first
/// version differs in parallel states, and the versions before the third differ if an expression can fail.
fn other_rules(loaded: &LoadedMachine, semantics: Semantics) -> Option<String> {
    let chart = loaded.chart();
    let is_parallel = chart.states.iter().any(|state| state.kind == Kind::Parallel);
    let computes = |formula: &Formula| !matches!(formula.template, Template::Literal(_));
    let is_computing = chart.dialect == Dialect::Native && loaded.machine.formulas().iter().any(computes);
    let is_other = (semantics < Semantics::Scoped && is_parallel) || (semantics < Semantics::Strict && is_computing);
    is_other
        .then(|| format!("the run uses semantics version {}, but `check` proves another version", u32::from(semantics)))
}

/// Creates a new run that shares the first records of another, if its machine is proved or the caller accepts an
/// unproved one.
pub fn fork(engine: &dyn Engine, prover: &dyn Prover, head: &Head, wanted: NewFork) -> Result<NewRun> {
    let NewFork { at, by, accepts_unproved } = wanted;
    if at == 0 || at > head.seq {
        return Err(Error::State {
            run: head.name.clone(),
            why: format!("it has no record {at}, only 1 to {}", head.seq),
        });
    }
    let name = fresh_name(&head.machine);
    let (mut entries, mut evidence) = (Vec::new(), Vec::new());
    let loaded = LoadedMachine::shared(engine, &head.definition)?;
    let created = proof::created(engine, head)?;
    let semantics = created.as_ref().map_or(Semantics::CURRENT, |created| created.semantics);
    let folder = created.and_then(|created| created.folder).unwrap_or_default();
    let mut refusals = prover.refusals(&loaded, Path::new(&folder));
    refusals.extend(other_rules(&loaded, semantics));
    let unproved = proof::accept(&loaded, refusals, accepts_unproved)?;
    let live = replay(engine, head, at, |frame| {
        evidence.extend(frame.entry.evidence().iter().map(|file| (entries.len(), file.clone())));
        let entry = match frame.entry.clone() {
            Entry::Created(mut created) => {
                created.fork = Some(Fork { run: head.name.clone(), at });
                created.by = by.clone();
                created.unproved.clone_from(&unproved);
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
