//! Deadlines: the timers that are due, the results of firing them, and the events that came too late because of them.
//!
//! Before a run handles any input, the timers that are due at that moment fire, in the order of their due times. This
//! file decides; `actor.rs` writes the records.

use interlock_chart::model::StateId;
use interlock_core::{ActivityId, TimerId};
use interlock_journal::moment;
use serde::{Deserialize, Serialize};

use crate::{Live, Refused};

/// The most timers that fire before one event is admitted. Otherwise a timer without delay that sets itself again would
/// block every event.
pub(crate) const DUE_TIMERS_MAX: usize = 1_000;

/// A timer that fired, and the states it led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fired {
    /// The event that it raised, for example `timeout.reviewing`.
    pub event: String,
    /// The time at which it was due.
    #[serde(rename = "due")]
    pub due_at: String,
    /// The sequence number of its record.
    pub seq: u64,
    /// The active states before it fired.
    pub from: String,
    /// The active states after it fired.
    pub to: String,
    /// True if the run is paused, so that the timer is handled when the run is resumed.
    pub held: bool,
}

impl Fired {
    pub(crate) fn new(live: &Live, timer: TimerId, due_ms: i64) -> Self {
        let place = live.place();
        let (event, due_at) = (live.raised_by(timer), moment::rfc3339(due_ms));
        Fired { event, due_at, seq: live.seq + 1, from: place.clone(), to: place, held: live.state.is_paused() }
    }

    /// Describes the deadline and its result in a sentence.
    pub fn words(&self) -> String {
        let Fired { event, due_at, from, to, .. } = self;
        let led = match (self.held, from == to) {
            (true, _) => "is held until the run is resumed".to_owned(),
            (false, true) => format!("left it in {to}"),
            (false, false) => format!("led from {from} to {to}"),
        };
        format!("`{event}` was due at {due_at} and {led}")
    }
}

/// The takers of an event: states with a transition for it, and activities whose result a person reports.
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
    /// Returns the run's time: the clock, but never earlier than the last record. If the clock was set back, the time
    /// continues from the last record.
    pub fn now_ms(&self, clock_ms: i64) -> i64 {
        clock_ms.saturating_add(self.ahead_ms).max(self.at_ms)
    }

    /// Returns the timer that fires first of those due at `at_ms`, with its due time.
    pub fn due(&self, at_ms: i64) -> Option<(TimerId, i64)> {
        let due = self.timers.iter().filter(|(_, due_ms)| **due_ms <= at_ms);
        due.min_by_key(|(id, due_ms)| (**due_ms, **id)).map(|(id, due_ms)| (*id, *due_ms))
    }

    /// Returns the name of the event that a timer raises.
    pub fn raised_by(&self, timer: TimerId) -> String {
        let pending = self.state.pending.iter().find(|pending| pending.id == timer);
        pending.map(|pending| pending.event.key.name(&self.loaded.machine).to_owned()).unwrap_or_default()
    }

    /// Returns the states and activities that would take an event now.
    pub(crate) fn takers(&self, event: &str) -> Takers {
        let chart = self.loaded.chart();
        let takes = |state: &StateId| {
            let transitions = chart.state(*state).transitions.iter().map(|id| chart.transition(*id));
            transitions.flat_map(|transition| &transition.events).any(|descriptor| descriptor.matches(event))
        };
        let raises = |begun: &crate::StartedActivity| {
            let signals = &chart.invoke(begun.invoke).signals;
            event == "error" || signals.iter().any(|signal| self.loaded.machine.event_name(signal.event) == event)
        };
        Takers {
            states: self.state.configuration.iter().filter(takes).collect(),
            activities: self.activities.iter().filter(|(_, begun)| raises(begun)).map(|(id, _)| *id).collect(),
        }
    }

    /// Returns true if deadlines that fired just now have ended the run, or a state or activity that would have taken
    /// the event. An event that aborts the run is too late only if the run is over.
    pub(crate) fn is_overtaken(&self, event: &str, before: &Takers) -> bool {
        let is_gone = || !self.takers(event).includes(before) && !self.is_aborted_by(event);
        !before.is_empty() && (self.state.is_done() || is_gone())
    }
}

/// Returns the refusal of an event that deadlines overtook, with the events that the run accepts now.
pub(crate) fn too_late(run: &str, event: &str, late: Vec<Fired>, takes: Vec<(String, String)>) -> Refused {
    let words: Vec<String> = late.iter().map(Fired::words).collect();
    let why = format!("`{event}` came too late for {run} and was not recorded: {}", words.join("; "));
    Refused { why, takes, late }
}
