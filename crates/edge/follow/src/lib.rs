//! Follows a run by its records, if this process runs it, another one does, or none.
//!
//! The commands, the report and the server show runs. They read them here: record by record with the transitions that
//! each caused ([`Follower::catch_up`]), or as they are now ([`Follower::from_now`], [`state_json`]). Nothing is written.

pub mod continued;
mod difference;
mod end;
mod evidence;
mod judge_note;
pub mod spent;
mod state;
mod tally;

use std::sync::Arc;

use interlock_activity::{Registry, report::RecordedActivity};
use interlock_chart::model::{Raiser, StateId, TransitionId};
use interlock_draw::visited::Visits;
use interlock_journal::{Engine, Entry, Head, Holder, Lease, Phase, Record};
use interlock_runtime::{Clock as _, Live, LoadedMachine, Move, Offers, Result, SystemClock, offers};

pub use difference::{ChangedFile, Difference, Later, Total, UnknownWrite};
pub use end::{End, reason, reason_of};
pub use evidence::{descendants, with_evidence};
pub use judge_note::{of as judge_of, words as judge_words};
pub use state::{counters, state_json};
pub use tally::{Meter, Spent, Tally, turn_of};

/// The number of records that are read at a time.
const CHUNK: usize = 1_000;

/// One record of a run, with the transitions that it caused.
#[derive(Debug)]
pub struct Step {
    /// The record as it is stored.
    pub record: Record,
    /// The decoded content of the record.
    pub entry: Entry,
    /// The transitions that it caused, for people.
    pub moves: Vec<Move>,
    /// The same transitions for pictures, one item per microstep.
    pub microsteps: Vec<Microstep>,
    /// The activity that the record starts, ends or leaves to a person.
    pub activity: Option<RecordedActivity>,
    /// True if an attempt of an activity is in progress after the record.
    pub is_busy: bool,
}

/// The transitions of a microstep with the states that they left and entered.
#[derive(Debug)]
pub struct Microstep {
    /// The transitions that were taken.
    pub taken: Vec<TransitionId>,
    /// The states that were left.
    pub exited: Vec<StateId>,
    /// The states that were entered.
    pub entered: Vec<StateId>,
}

/// The input that a run waits for if no process is running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: any process can continue the run.
    Moving,
    /// A timer that is due at this time, in milliseconds.
    Timer(i64),
    /// An event or a report by a person.
    Person,
    /// The run is paused and waits to be resumed.
    Paused,
    /// The run has ended.
    Over,
}

/// A store of runs together with the activities that their machines can invoke.
pub trait Source {
    /// Returns the engine that holds the runs.
    fn engine(&self) -> Arc<dyn Engine>;

    /// Returns the available activities.
    fn registry(&self) -> &'static Registry;
}

/// A run, replayed up to the last record that was read.
pub struct Follower {
    /// The engine that holds the run.
    pub engine: Arc<dyn Engine>,
    /// The available activities.
    pub registry: &'static Registry,
    /// The head of the run when it was found.
    pub head: Head,
    /// The state of the run after the last record that was read.
    pub live: Live,
}

impl Follower {
    /// Follows a run from before its first record.
    pub fn from_start(source: &impl Source, head: Head) -> Result<Self> {
        let engine = source.engine();
        let (loaded, evidence) = (loaded(&*engine, &head)?, engine.evidence().clone());
        let mut live = Live::new(head.name.as_str().into(), loaded, Default::default(), head.parent.clone(), evidence);
        live.key = head.key;
        Ok(Follower { engine, registry: source.registry(), head, live })
    }

    /// Follows a run from its current state.
    pub fn from_now(source: &impl Source, head: Head) -> Result<Self> {
        Follower::open(source.engine(), source.registry(), head)
    }

    /// Follows a run of this engine from its current state.
    pub fn open(engine: Arc<dyn Engine>, registry: &'static Registry, head: Head) -> Result<Self> {
        let opened = engine.open(head.key)?;
        let live = Live::load(&opened, loaded(&*engine, &head)?, Lease { epoch: 0 }, engine.evidence())?;
        Ok(Follower { engine, registry, head, live })
    }

    /// Follows a run from the last stored state before a record; from its start if there is none.
    pub fn before(source: &impl Source, head: Head, seq: u64) -> Result<Self> {
        let engine = source.engine();
        let mut opened = engine.open(head.key)?;
        if opened.snapshot.as_ref().is_none_or(|(at, _)| *at >= seq) {
            return Follower::from_start(source, head);
        }
        opened.tail.clear();
        let mut live = Live::load(&opened, loaded(&*engine, &head)?, Lease { epoch: 0 }, engine.evidence())?;
        // A timer that was set later is set again when its record is read.
        let pending: Vec<_> = live.state.pending.iter().map(|pending| pending.id).collect();
        live.timers.retain(|id, _| pending.contains(id));
        Ok(Follower { engine, registry: source.registry(), head, live })
    }

    /// Reads the records that were added since the last call.
    pub fn catch_up(&mut self) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            let read = self.read(CHUNK)?;
            let is_all = read.len() < CHUNK;
            steps.extend(read);
            if is_all {
                return Ok(steps);
            }
        }
    }

    /// Reads the next records, at most this many.
    pub fn read(&mut self, at_most: usize) -> Result<Vec<Step>> {
        let records = self.engine.records(self.head.key, self.live.seq + 1, at_most)?;
        records.into_iter().map(|record| self.step(record)).collect()
    }

    fn step(&mut self, record: Record) -> Result<Step> {
        let entry = self.engine.entry(&record)?;
        let activity = self.activity(&entry);
        let (mut moves, trace) = self.live.relive(&record, &entry);
        if let Some(first) = moves.first_mut() {
            first.judge = judge_note::of(&*self.engine, &entry);
        }
        let microsteps = trace.microsteps.iter().map(|round| Microstep {
            taken: round.taken.iter().map(|taken| taken.transition).collect(),
            exited: round.exited.to_vec(),
            entered: round.entered.to_vec(),
        });
        let microsteps = microsteps.collect();
        let is_busy = self.live.activities.values().any(|begun| begun.number > 0 && begun.left.is_none());
        Ok(Step { record, entry, moves, microsteps, activity, is_busy })
    }

    fn activity(&self, entry: &Entry) -> Option<RecordedActivity> {
        let id = match entry {
            Entry::Attempt { activity, .. } | Entry::Outcome { activity, .. } => activity,
            Entry::Left(left) => &left.activity,
            _ => return None,
        };
        let begun = self.live.activities.get(id)?;
        let chart = self.live.loaded.chart();
        let invoke = chart.invoke(begun.invoke);
        let (name, state) = (invoke.activity.clone(), chart.state(invoke.state).name.clone());
        Some(RecordedActivity { name, state, with: begun.with.clone() })
    }

    /// Returns the states and transitions of these steps, for a picture.
    pub fn visits(&self, steps: &[Step]) -> Visits {
        let chart = self.live.loaded.chart();
        let mut visits = Visits::default();
        for round in steps.iter().flat_map(|step| &step.microsteps) {
            visits.add(chart, &round.taken, &round.exited, &round.entered);
        }
        visits.rest(chart, self.live.state.configuration.iter());
        visits
    }

    /// Returns the phase of the run as a whole.
    pub fn phase(&self) -> Phase {
        self.live.phase(self.registry)
    }

    /// Returns the events and reports that the run accepts from outside.
    pub fn offers(&self) -> Offers {
        offers(&self.live, self.registry)
    }

    /// Returns the input that the run waits for.
    pub fn standing(&self) -> Standing {
        match self.phase() {
            Phase::Active => Standing::Moving,
            Phase::Paused => Standing::Paused,
            Phase::Succeeded | Phase::Incomplete | Phase::Failed | Phase::Aborted => Standing::Over,
            Phase::Waiting => {
                let offers = self.offers();
                match self.live.timers.values().min() {
                    Some(due) if offers.by_hand.is_empty() && !offers.is_asking => Standing::Timer(*due),
                    _ => Standing::Person,
                }
            }
        }
    }

    /// Returns the event that leads to an end with the outcome `aborted` and that a user may send now, or could send if
    /// the run were not paused. An event called `abort` is tried first.
    pub fn abort_event(&self) -> Option<String> {
        let events = &self.live.loaded.chart().events;
        let theirs = events.iter().filter(|event| matches!(event.from, Raiser::User | Raiser::Any));
        let mut names: Vec<&str> = theirs.map(|event| event.name.as_str()).collect();
        names.sort_by_key(|name| *name != "abort");
        names.into_iter().find(|name| self.live.is_aborted_by(name)).map(str::to_owned)
    }

    /// Returns the run's time: the clock, but never before its last record.
    pub fn now_ms(&self) -> i64 {
        self.live.now_ms(SystemClock.now_ms())
    }

    /// Returns the process that owns the run, if any.
    pub fn holder(&self) -> Result<Option<Holder>> {
        Ok(self.engine.holder(self.head.key)?)
    }
}

/// Loads a run's machine as it was when the run began.
pub fn loaded(engine: &dyn Engine, head: &Head) -> Result<Arc<LoadedMachine>> {
    LoadedMachine::shared(engine, &head.definition)
}
