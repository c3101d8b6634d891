//! Following a run by its records, whoever moves it: this process, another one, or nobody any more.

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

/// Records read at a time.
const CHUNK: usize = 1_000;

/// One record of a run, with what it led to.
#[derive(Debug)]
pub(crate) struct Step {
    /// The record.
    pub(crate) record: Record,
    /// What it says.
    pub(crate) entry: Entry,
    /// The transitions it led to, for people.
    pub(crate) moves: Vec<Move>,
    /// The same, for pictures: one per microstep.
    pub(crate) microsteps: Vec<Microstep>,
    /// The activity that it tries, ends or leaves to a person.
    pub(crate) activity: Option<RecordedActivity>,
    /// Whether an activity is being tried after it.
    pub(crate) is_busy: bool,
}

/// The transitions of a microstep with the states that they left and entered.
#[derive(Debug)]
pub(crate) struct Microstep {
    pub(crate) taken: Vec<TransitionId>,
    pub(crate) exited: Vec<StateId>,
    pub(crate) entered: Vec<StateId>,
}

/// What a run that nobody moves waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing: somebody has only to go on with it.
    Moving,
    /// A timer, due at this moment.
    Timer(i64),
    /// A person.
    Person,
    /// To be resumed.
    Paused,
    /// Nothing any more.
    Over,
}

/// A run as far as it has been read.
pub(crate) struct Follower {
    pub(crate) engine: Arc<dyn Engine>,
    /// The run, as it was found first.
    pub(crate) head: Head,
    /// The run, as far as it has been read.
    pub(crate) live: Live,
}

impl Follower {
    /// From before its first record.
    pub(crate) fn from_start(store: &Store, head: Head) -> Result<Self, Failure> {
        let (loaded, evidence) = (store.loaded(&head)?, store.journal.evidence().clone());
        let mut live = Live::new(head.name.as_str().into(), loaded, Default::default(), head.parent.clone(), evidence);
        live.key = head.key;
        Ok(Follower { engine: store.engine(), head, live })
    }

    /// From where it is now.
    pub(crate) fn from_now(store: &Store, head: Head) -> Result<Self, Failure> {
        let live = store.live(&head)?;
        Ok(Follower { engine: store.engine(), head, live })
    }

    /// Reads what has been recorded since.
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

    /// The states and transitions of these steps, for a picture.
    pub(crate) fn visits(&self, steps: &[Step]) -> Visits {
        let chart = self.live.loaded.chart();
        let mut visits = Visits::default();
        for round in steps.iter().flat_map(|step| &step.microsteps) {
            visits.add(chart, &round.taken, &round.exited, &round.entered);
        }
        visits.rest(chart, self.live.state.configuration.iter());
        visits
    }

    /// Where it stands as a whole.
    pub(crate) fn phase(&self) -> Phase {
        self.live.phase(registry())
    }

    /// What can be done about it from outside.
    pub(crate) fn offers(&self) -> Offers {
        offers(&self.live, registry())
    }

    /// What it waits for.
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

    /// The run's time: the clock, but never before its last record.
    pub(crate) fn now_ms(&self) -> i64 {
        self.live.now_ms(SystemClock.now_ms())
    }

    /// The process that moves it.
    pub(crate) fn holder(&self) -> Result<Option<Holder>, Failure> {
        Ok(self.engine.holder(self.head.key)?)
    }
}
