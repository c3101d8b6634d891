//! Follows a run by its records, if this process runs it, another one does, or none.

use std::sync::Arc;

use interlock_activity::report::RecordedActivity;
use interlock_chart::model::{StateId, TransitionId};
use interlock_draw::visited::Visits;
use interlock_journal::{Engine, Entry, Head, Holder, Phase, Record};
use interlock_runtime::{Clock as _, Live, Move, Offers, SystemClock, offers};

use crate::{
    failure::Failure,
    judged,
    store::{Store, registry},
};

/// The number of records that are read at a time.
const CHUNK: usize = 1_000;

/// One record of a run, with the transitions that it caused.
#[derive(Debug)]
pub(crate) struct Step {
    /// The record as it is stored.
    pub(crate) record: Record,
    /// The decoded content of the record.
    pub(crate) entry: Entry,
    /// The transitions that it caused, for people.
    pub(crate) moves: Vec<Move>,
    /// The same transitions for pictures, one item per microstep.
    pub(crate) microsteps: Vec<Microstep>,
    /// The activity that the record starts, ends or leaves to a person.
    pub(crate) activity: Option<RecordedActivity>,
    /// True if an attempt of an activity is in progress after the record.
    pub(crate) is_busy: bool,
}

/// The transitions of a microstep with the states that they left and entered.
#[derive(Debug)]
pub(crate) struct Microstep {
    pub(crate) taken: Vec<TransitionId>,
    pub(crate) exited: Vec<StateId>,
    pub(crate) entered: Vec<StateId>,
}

/// The input that a run waits for if no process is running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
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

/// A run, replayed up to the last record that was read.
pub(crate) struct Follower {
    pub(crate) engine: Arc<dyn Engine>,
    /// The head of the run when it was found.
    pub(crate) head: Head,
    /// The state of the run after the last record that was read.
    pub(crate) live: Live,
}

impl Follower {
    /// Follows a run from before its first record.
    pub(crate) fn from_start(store: &Store, head: Head) -> Result<Self, Failure> {
        let (loaded, evidence) = (store.loaded(&head)?, store.journal.evidence().clone());
        let mut live = Live::new(head.name.as_str().into(), loaded, Default::default(), head.parent.clone(), evidence);
        live.key = head.key;
        Ok(Follower { engine: store.engine(), head, live })
    }

    /// Follows a run from its current state.
    pub(crate) fn from_now(store: &Store, head: Head) -> Result<Self, Failure> {
        let live = store.live(&head)?;
        Ok(Follower { engine: store.engine(), head, live })
    }

    /// Reads the records that were added since the last call.
    pub(crate) fn catch_up(&mut self) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        loop {
            let records = self.engine.records(self.head.key, self.live.seq + 1, CHUNK)?;
            let is_all = records.len() < CHUNK;
            for record in records {
                steps.push(self.step(record)?);
            }
            if is_all {
                return Ok(steps);
            }
        }
    }

    /// Reads the next records, at most this many.
    pub(crate) fn read(&mut self, at_most: usize) -> Result<Vec<Step>, Failure> {
        let records = self.engine.records(self.head.key, self.live.seq + 1, at_most)?;
        records.into_iter().map(|record| self.step(record)).collect()
    }

    fn step(&mut self, record: Record) -> Result<Step, Failure> {
        let entry = self.engine.entry(&record)?;
        let activity = self.activity(&entry);
        let (mut moves, trace) = self.live.relive(&record, &entry);
        if let Some(first) = moves.first_mut() {
            first.judge = judged::of(&*self.engine, &entry);
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
    pub(crate) fn visits(&self, steps: &[Step]) -> Visits {
        let chart = self.live.loaded.chart();
        let mut visits = Visits::default();
        for round in steps.iter().flat_map(|step| &step.microsteps) {
            visits.add(chart, &round.taken, &round.exited, &round.entered);
        }
        visits.rest(chart, self.live.state.configuration.iter());
        visits
    }

    /// Returns the phase of the run as a whole.
    pub(crate) fn phase(&self) -> Phase {
        self.live.phase(registry())
    }

    /// Returns the events and reports that the run accepts from outside.
    pub(crate) fn offers(&self) -> Offers {
        offers(&self.live, registry())
    }

    /// Returns the input that the run waits for.
    pub(crate) fn standing(&self) -> Standing {
        match self.phase() {
            Phase::Active => Standing::Moving,
            Phase::Paused => Standing::Paused,
            Phase::Succeeded | Phase::Failed | Phase::Aborted => Standing::Over,
            Phase::Waiting => {
                let offers = self.offers();
                match self.live.timers.values().min() {
                    Some(due) if offers.by_hand.is_empty() && !offers.is_asking => Standing::Timer(*due),
                    _ => Standing::Person,
                }
            }
        }
    }

    /// Returns the run's time: the clock, but never before its last record.
    pub(crate) fn now_ms(&self) -> i64 {
        self.live.now_ms(SystemClock.now_ms())
    }

    /// Returns the process that owns the run, if any.
    pub(crate) fn holder(&self) -> Result<Option<Holder>, Failure> {
        Ok(self.engine.holder(self.head.key)?)
    }
}
