//! The reasons for a step: the transitions taken and refused, the states left and entered.
//!
//! The engine reports to an [`Observer`] as it goes. [`Trace`] keeps everything; [`Silent`] keeps nothing and costs
//! nothing, for callers that only need the state.

use interlock_chart::{
    Value,
    model::{CounterId, InvokeId, StateId, TransitionId},
};
use smallvec::SmallVec;

use crate::{EventKey, Fault};

/// Receives the engine's actions in order.
pub trait Observer {
    /// True if reasons and log lines are wanted: building them costs a string.
    const WORDS: bool;

    /// True if the values that guards read are wanted as well.
    const VALUES: bool = false;

    /// Transitions are about to be selected for this event (or for none). The origin is the state that the event
    /// belongs to.
    fn considering(&mut self, event: Option<&EventKey>, origin: Option<StateId>);
    /// A candidate's guard was evaluated and read these values.
    fn weighed(&mut self, _transition: TransitionId, _values: Vec<(String, Value)>) {}
    /// A candidate was not enabled.
    fn refused(&mut self, transition: TransitionId, why: Refusal);
    /// A transition is taken.
    fn taken(&mut self, transition: TransitionId, reason: Option<String>);
    /// A state is left.
    fn exited(&mut self, state: StateId);
    /// A state is entered.
    fn entered(&mut self, state: StateId);
    /// An activity is started.
    fn started(&mut self, invoke: InvokeId);
    /// Something could not be evaluated.
    fn faulted(&mut self, fault: &Fault);
    /// The transitions of this round are not taken after all, because something on their way could not be evaluated:
    /// every report since the selection is void.
    fn withdrawn(&mut self, transitions: &[TransitionId]);
    /// The run ends in failure, because no transition handled this fault.
    fn failed(&mut self, _fault: &Fault) {}
    /// The machine logged a line.
    fn logged(&mut self, line: String);
}

/// An observer that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    const WORDS: bool = false;
    fn considering(&mut self, _: Option<&EventKey>, _: Option<StateId>) {}
    fn refused(&mut self, _: TransitionId, _: Refusal) {}
    fn taken(&mut self, _: TransitionId, _: Option<String>) {}
    fn exited(&mut self, _: StateId) {}
    fn entered(&mut self, _: StateId) {}
    fn started(&mut self, _: InvokeId) {}
    fn faulted(&mut self, _: &Fault) {}
    fn withdrawn(&mut self, _: &[TransitionId]) {}
    fn logged(&mut self, _: String) {}
}

/// Everything that happened in a step, microstep by microstep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The microsteps in order. A round in which no transition took the event has an empty `taken`.
    pub microsteps: Vec<Microstep>,
    /// The fault that ended the run in failure, because no transition handled it.
    pub failure: Option<Fault>,
    /// True while eventless transitions are being selected. The round is recorded only if it has something to report.
    is_eventless_round_open: bool,
}

/// One round of the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Microstep {
    /// The event; `None` for eventless transitions and the start.
    pub event: Option<EventKey>,
    /// The transitions taken, in document order.
    pub taken: SmallVec<[TakenTransition; 1]>,
    /// The candidates that were not enabled.
    pub refused: SmallVec<[Refused; 2]>,
    /// The states left, in order.
    pub exited: SmallVec<[StateId; 4]>,
    /// The states entered, in order.
    pub entered: SmallVec<[StateId; 4]>,
    /// The activities started, in order.
    pub started: SmallVec<[InvokeId; 2]>,
    /// The evaluations that failed.
    pub faults: Vec<Fault>,
    /// The lines that the machine logged.
    pub log: Vec<String>,
}

/// A transition that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenTransition {
    /// The transition's index in the chart.
    pub transition: TransitionId,
    /// The reason with its values filled in; `None` if the transition has no reason.
    pub reason: Option<String>,
}

/// A candidate that was not enabled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// The transition's index in the chart.
    pub transition: TransitionId,
    /// The reason for the refusal.
    pub why: Refusal,
}

/// The reason why a candidate was not enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its guard was false.
    Guard,
    /// Its guard, or something on its way, could not be evaluated.
    Fault,
    /// Its limit is used up.
    Limit {
        /// The counter of the limit.
        counter: CounterId,
        /// The current value of the counter.
        count: u32,
    },
    /// It was enabled, but a transition of another region with priority leaves the same states.
    Preempted,
}

impl Trace {
    /// The microstep in progress.
    fn last(&mut self) -> &mut Microstep {
        if self.microsteps.is_empty() {
            self.microsteps.push(Microstep::default());
        }
        let last = self.microsteps.len() - 1;
        &mut self.microsteps[last]
    }

    /// The microstep in progress, created if it is an eventless one that was not recorded yet.
    fn selecting(&mut self) -> &mut Microstep {
        if std::mem::take(&mut self.is_eventless_round_open) {
            self.microsteps.push(Microstep::default());
        }
        self.last()
    }

    /// Every transition taken, in order.
    pub fn transitions(&self) -> impl Iterator<Item = TransitionId> + '_ {
        self.microsteps.iter().flat_map(|microstep| microstep.taken.iter().map(|taken| taken.transition))
    }
}

impl Observer for Trace {
    const WORDS: bool = true;

    fn considering(&mut self, event: Option<&EventKey>, _: Option<StateId>) {
        self.is_eventless_round_open = event.is_none();
        if event.is_some() {
            self.microsteps.push(Microstep { event: event.cloned(), ..Microstep::default() });
        }
    }

    fn refused(&mut self, transition: TransitionId, why: Refusal) {
        self.selecting().refused.push(Refused { transition, why });
    }

    fn taken(&mut self, transition: TransitionId, reason: Option<String>) {
        self.selecting().taken.push(TakenTransition { transition, reason });
    }

    fn exited(&mut self, state: StateId) {
        self.last().exited.push(state);
    }

    fn entered(&mut self, state: StateId) {
        self.last().entered.push(state);
    }

    fn started(&mut self, invoke: InvokeId) {
        self.last().started.push(invoke);
    }

    fn faulted(&mut self, fault: &Fault) {
        self.last().faults.push(fault.clone());
    }

    fn withdrawn(&mut self, transitions: &[TransitionId]) {
        let round = self.selecting();
        let faults = std::mem::take(&mut round.faults);
        let (event, mut refused) = (round.event.take(), std::mem::take(&mut round.refused));
        refused.extend(transitions.iter().map(|&transition| Refused { transition, why: Refusal::Fault }));
        *round = Microstep { event, refused, faults, ..Microstep::default() };
    }

    fn failed(&mut self, fault: &Fault) {
        self.failure = Some(fault.clone());
    }

    fn logged(&mut self, line: String) {
        self.last().log.push(line);
    }
}
