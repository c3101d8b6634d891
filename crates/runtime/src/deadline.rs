//! Deadlines: which timers are due, what became of them, and whether an event came too late because of them.
//!
//! Whatever brings something to a run, the timers that are due at that moment fire first, in the order of their due times. This file decides; the
//! records are made by `actor.rs`.

use interlock_chart::model::StateId;
use interlock_core::{ActivityId, TimerId};
use interlock_journal::moment;
use serde::{Deserialize, Serialize};

use crate::{Live, Refused};

/// Most timers that fire before one event is admitted. A timer without delay that sets itself again would otherwise keep everybody out.
pub(crate) const DUE_TIMERS_MAX: usize = 1_000;

/// A timer that fired, and where it led.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fired {
    /// The event that it raised: `timeout.reviewing`.
    pub event: String,
    /// When it was due.
    #[serde(rename = "due")]
    pub due_at: String,
    /// The record that it became.
    pub seq: u64,
    /// The active states before.
    pub from: String,
    /// The active states after.
    pub to: String,
    /// Whether the run is paused, so that it is handled when the run is resumed.
    pub held: bool,
}

impl Fired {
    pub(crate) fn new(live: &Live, timer: TimerId, due_ms: i64) -> Self {
        let place = live.place();
        let (event, due_at) = (live.raised_by(timer), moment::rfc3339(due_ms));
        Fired { event, due_at, seq: live.seq + 1, from: place.clone(), to: place, held: live.state.is_paused() }
    }

    /// In words: the deadline and what it did.
    pub fn words(&self) -> String {
        let Fired { event, due_at, from, to, .. } = self;
        let led = match (self.held, from == to) {
            (true, _) => "is kept until the run is resumed".to_owned(),
            (false, true) => format!("left it in {to}"),
            (false, false) => format!("led from {from} to {to}"),
        };
        format!("`{event}` was due at {due_at} and {led}")
    }
}

/// What would take an event: states with a transition for it, and activities that a person stands in for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Takers {
    states: Vec<StateId>,
    activities: Vec<ActivityId>,
}

impl Takers {
    fn is_empty(&self) -> bool {
        self.states.is_empty() && self.activities.is_empty()
    }

    fn includes(&self, others: &Takers) -> bool {
        others.states.iter().all(|state| self.states.contains(state))
            && others.activities.iter().all(|id| self.activities.contains(id))
    }
}

impl Live {
    /// The run's time: the clock, but never before the last record, and going on from there where the clock has been set back meanwhile.
    pub fn now_ms(&self, clock_ms: i64) -> i64 {
        clock_ms.saturating_add(self.ahead_ms).max(self.at_ms)
    }

    /// The timer that is to fire first of those due.
    pub fn due(&self, at_ms: i64) -> Option<(TimerId, i64)> {
        let due = self.timers.iter().filter(|(_, due_ms)| **due_ms <= at_ms);
        due.min_by_key(|(id, due_ms)| (**due_ms, **id)).map(|(id, due_ms)| (*id, *due_ms))
    }

    /// The event that a timer raises.
    pub fn raised_by(&self, timer: TimerId) -> String {
        let pending = self.state.pending.iter().find(|pending| pending.id == timer);
        pending.map(|pending| pending.event.key.name(&self.loaded.machine).to_owned()).unwrap_or_default()
    }

    /// What would take an event now.
    pub(crate) fn takers(&self, event: &str) -> Takers {
        let chart = self.loaded.chart();
        let takes = |state: &StateId| {
            let transitions = chart.state(*state).transitions.iter().map(|id| chart.transition(*id));
            transitions.flat_map(|transition| &transition.events).any(|descriptor| descriptor.matches(event))
        };
        let raises = |begun: &crate::Begun| {
            let signals = &chart.invoke(begun.invoke).signals;
            event == "error" || signals.iter().any(|signal| self.loaded.machine.event_name(signal.event) == event)
        };
        Takers {
            states: self.state.configuration.iter().filter(takes).collect(),
            activities: self.activities.iter().filter(|(_, begun)| raises(begun)).map(|(id, _)| *id).collect(),
        }
    }

    /// Whether deadlines that fired just now have ended what the event was for. What aborts the run is never too late.
    pub(crate) fn is_overtaken(&self, event: &str, before: &Takers) -> bool {
        let is_gone = || !self.takers(event).includes(before) && !self.is_aborted_by(event);
        !before.is_empty() && (self.state.is_done() || is_gone())
    }
}

/// The refusal of an event that deadlines overtook, with what the run takes now.
pub(crate) fn too_late(run: &str, event: &str, late: Vec<Fired>, takes: Vec<(String, String)>) -> Refused {
    let words: Vec<String> = late.iter().map(Fired::words).collect();
    let why = format!("`{event}` came too late for {run}, and is not recorded: {}", words.join("; "));
    Refused { why, takes, late }
}
