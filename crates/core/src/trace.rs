//! Why a step went as it did: what was taken, what was refused, what was left and entered.
//!
//! The engine tells an [`Observer`] as it goes. [`Trace`] keeps all of it; [`Silent`] keeps nothing and costs nothing, for those
//! who only want the state.

use interlock_chart::{
    Value,
    model::{CounterId, InvokeId, StateId, TransitionId},
};
use smallvec::SmallVec;

use crate::{EventKey, Fault};

/// Told by the engine what it does, in order.
pub trait Observer {
    /// Whether reasons and log lines are wanted: making them costs a string.
    const WORDS: bool;

    /// Whether the values that guards saw are wanted as well.
    const VALUES: bool = false;

    /// Transitions are about to be selected for this event (or for none). The origin is the state that the event belongs to.
    fn considering(&mut self, event: Option<&EventKey>, origin: Option<StateId>);
    /// A candidate's guard was asked and saw these values.
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
    /// The machine wrote a line.
    fn logged(&mut self, line: String);
}

/// Keeps nothing.
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
    fn logged(&mut self, _: String) {}
}

/// Everything that happened in a step, microstep by microstep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// In order. A round in which an event found no taker has no `taken`.
    pub microsteps: Vec<Microstep>,
    /// Eventless transitions are being asked for. Only when there is something to say of it does it become a round.
    is_eventless_round_open: bool,
}

/// One round of the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Microstep {
    /// The event, or nothing for eventless transitions and the start.
    pub event: Option<EventKey>,
    /// The transitions taken, in document order.
    pub taken: SmallVec<[Taken; 1]>,
    /// The candidates that were not enabled.
    pub refused: SmallVec<[Refused; 2]>,
    /// States left, in order.
    pub exited: SmallVec<[StateId; 4]>,
    /// States entered, in order.
    pub entered: SmallVec<[StateId; 4]>,
    /// Activities started.
    pub started: SmallVec<[InvokeId; 2]>,
    /// What could not be evaluated.
    pub faults: Vec<Fault>,
    /// Lines the machine wrote.
    pub log: Vec<String>,
}

/// A transition taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Which.
    pub transition: TransitionId,
    /// Its reason, filled in; nothing where it has none.
    pub reason: Option<String>,
}

/// A candidate that was not enabled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// Which.
    pub transition: TransitionId,
    /// Why.
    pub why: Refusal,
}

/// Why a candidate was not enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its guard was false.
    Guard,
    /// Its guard could not be evaluated.
    Fault,
    /// Its limit is used up.
    Limit {
        /// Which counter.
        counter: CounterId,
        /// Where it stands.
        count: u32,
    },
    /// It was enabled, but a transition of another region that goes first leaves the same states.
    Preempted,
}

impl Trace {
    /// The round at work.
    fn last(&mut self) -> &mut Microstep {
        if self.microsteps.is_empty() {
            self.microsteps.push(Microstep::default());
        }
        let last = self.microsteps.len() - 1;
        &mut self.microsteps[last]
    }

    /// The round at work, begun if it has not been said yet.
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
        self.selecting().taken.push(Taken { transition, reason });
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

    fn logged(&mut self, line: String) {
        self.last().log.push(line);
    }
}
