//! The algorithm for SCXML interpretation, appendix D of the W3C recommendation, on plain data.
//!
//! `macrostep` below is appendix D's `mainEventLoop` for one external event. The other procedures are in files named
//! after their task: `select.rs`, `exit.rs`, `enter.rs`, `content.rs`. The engine adds three things: counters (a
//! transition with a limit is enabled while its counter is below the limit), timers of states, and a bound on the
//! length of a macrostep. It restricts one: an event with an origin is heard inside that state, and elsewhere only by
//! its qualified name.

mod content;
mod enter;
mod exit;
mod select;

use std::collections::VecDeque;

pub(crate) use enter::{EntrySet, compute_entry_set};
pub(crate) use exit::transition_domain;
use interlock_chart::{
    Chart,
    model::{StateId, TransitionId},
};
use smallvec::SmallVec;

use crate::{
    Data, Effect, Event, EventKey, Fault, Machine, Observer, Scope, Semantics, State, StateSet, Status,
    bounds::{MACROSTEP_ROUNDS_MAX, RESCUE_ROUNDS_MAX},
};

/// Transitions taken together in one microstep, in document order.
pub(crate) type Enabled = SmallVec<[TransitionId; 4]>;

/// The working state of one macrostep.
pub(crate) struct Interpreter<'a, D: Data, O: Observer> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a mut State<D>,
    pub(crate) observer: &'a mut O,
    pub(crate) effects: &'a mut Vec<Effect<D::Payload>>,
    /// The event being handled; it stays while eventless transitions follow it.
    event: Option<Event<D::Payload>>,
    /// The state that the event belongs to, or `None` if every active state hears the event.
    origin: Option<StateId>,
    /// Internal events with the states they belong to.
    internal_queue: VecDeque<(Event<D::Payload>, Option<StateId>)>,
    external_queue: VecDeque<Event<D::Payload>>,
    /// States entered in this macrostep: if they are still active at its end, their activities and timers are started.
    states_to_invoke: StateSet,
    /// True if eventless transitions need no new selection: since the last one, no microstep was taken and no event was
    /// handled that their guards could read.
    is_settled: bool,
    rounds_left: u32,
    /// True if the round limit was reached and the machine is handling the resulting error.
    is_rescue: bool,
    any_taken: bool,
}

impl<'a, D: Data, O: Observer> Interpreter<'a, D, O> {
    pub(crate) fn new(
        machine: &'a Machine,
        state: &'a mut State<D>,
        observer: &'a mut O,
        effects: &'a mut Vec<Effect<D::Payload>>,
    ) -> Self {
        Interpreter {
            states_to_invoke: StateSet::new(machine.chart().states.len()),
            machine,
            state,
            observer,
            effects,
            event: None,
            origin: None,
            internal_queue: VecDeque::new(),
            external_queue: VecDeque::new(),
            is_settled: true,
            rounds_left: MACROSTEP_ROUNDS_MAX,
            is_rescue: false,
            any_taken: false,
        }
    }

    /// Enters the initial configuration of the machine.
    pub(crate) fn start(&mut self) {
        self.state.status = Status::Running;
        for at in 0..self.machine.initial_context().len() {
            let (var, value) = (interlock_chart::model::VarId::at(at), self.machine.initial_context()[at]);
            if let Err(fault) = self.with_data(|data, scope| data.assign(var, value, scope)) {
                self.raise_fault(Chart::ROOT, *fault);
            }
        }
        self.enter_initial_states();
        self.is_settled = false;
        self.complete_macrostep();
        self.drain_external_queue();
    }

    /// Handles one external event, and the events that the machine sends itself without delay. Returns true if any
    /// transition was taken. The origin is the state whose activity or timeout raised the event.
    pub(crate) fn handle(&mut self, event: Event<D::Payload>, origin: Option<StateId>) -> bool {
        self.macrostep(event, origin);
        self.drain_external_queue();
        self.any_taken
    }

    /// Ends the run as aborted. States are left in order, so that their exit content runs and their activities are
    /// cancelled.
    pub(crate) fn abort(&mut self) {
        self.state.status = Status::Done { outcome: Some(interlock_chart::model::Outcome::Aborted) };
        self.exit_interpreter();
    }

    fn drain_external_queue(&mut self) {
        while self.state.status == Status::Running {
            let Some(event) = self.external_queue.pop_front() else { break };
            self.macrostep(event, None);
        }
    }

    fn macrostep(&mut self, event: Event<D::Payload>, origin: Option<StateId>) {
        self.take_event(event, origin);
        // The round limit also covers a machine that sends itself events without delay.
        if self.count_round() {
            self.complete_macrostep();
        }
    }

    /// Selects and takes the transitions for an event. Returns true if there were any.
    fn take_event(&mut self, event: Event<D::Payload>, origin: Option<StateId>) -> bool {
        // A guard that failed is not evaluated again for its own error event: if no transition handles the error, the
        // loop would never end.
        let is_asked_about = self.machine.eventless_reads_event && !self.is_error_execution(&event.key);
        self.event = Some(event);
        self.origin = origin.filter(|_| self.state.semantics == Semantics::Scoped);
        let enabled = self.select_transitions();
        if enabled.is_empty() {
            self.is_settled &= !is_asked_about;
            return false;
        }
        self.microstep(&enabled);
        true
    }

    fn is_error_execution(&self, key: &EventKey) -> bool {
        *key == EventKey::Known(self.machine.error_execution)
    }

    /// Handles eventless transitions and internal events until none is left, then starts the activities of the new
    /// states.
    fn complete_macrostep(&mut self) {
        while self.state.status == Status::Running {
            if !self.is_settled && self.may_be_eventless() {
                let enabled = self.select_eventless_transitions();
                if !enabled.is_empty() {
                    self.microstep(&enabled);
                    if !self.count_round() {
                        return;
                    }
                    continue;
                }
            }
            self.is_settled = true;
            match self.internal_queue.pop_front() {
                Some((event, origin)) => {
                    self.take_event(event, origin);
                    if !self.count_round() {
                        return;
                    }
                }
                None => {
                    self.invoke_states();
                    if self.internal_queue.is_empty() {
                        break;
                    }
                }
            }
        }
        if self.state.is_done() {
            self.exit_interpreter();
        }
    }

    fn may_be_eventless(&self) -> bool {
        self.state.configuration.intersects(&self.machine.eventless)
    }

    fn microstep(&mut self, enabled: &[TransitionId]) {
        self.any_taken = true;
        self.is_settled = false;
        self.tell_reasons(enabled);
        self.exit_states(enabled);
        self.execute_transition_content(enabled);
        self.enter_states(enabled);
    }

    /// Counts a round against the limit. Returns true if the macrostep may continue.
    fn count_round(&mut self) -> bool {
        self.rounds_left -= 1;
        if self.rounds_left > 0 || self.state.is_done() {
            return true;
        }
        if self.is_rescue {
            self.give_up();
            return false;
        }
        self.is_rescue = true;
        self.rounds_left = RESCUE_ROUNDS_MAX;
        self.internal_queue.clear();
        self.external_queue.clear();
        let fault = Fault::new(format!("no rest after {MACROSTEP_ROUNDS_MAX} rounds of one macrostep"));
        self.observer.faulted(&fault);
        let event = self.fault_event(Chart::ROOT, &fault);
        let is_taken = self.take_event(event, None);
        if !is_taken {
            self.give_up();
        }
        is_taken
    }

    /// Ends a run whose machine does not come to rest, because it would loop for ever.
    fn give_up(&mut self) {
        self.state.status = Status::Done { outcome: Some(interlock_chart::model::Outcome::Failure) };
        self.exit_interpreter();
    }

    /// Lets the data model answer a question, with the scope that it may read.
    fn with_data<T>(&mut self, ask: impl FnOnce(&mut D, &Scope<'_, D::Payload>) -> T) -> T {
        let scope = Scope {
            machine: self.machine,
            configuration: &self.state.configuration,
            counters: &self.state.counters,
            event: self.event.as_ref(),
        };
        ask(&mut self.state.data, &scope)
    }

    /// Adds `error.execution` to the internal queue. The event belongs to the state whose content could not be
    /// evaluated.
    fn raise_fault(&mut self, state: StateId, fault: Fault) {
        self.observer.faulted(&fault);
        let event = self.fault_event(state, &fault);
        self.internal_queue.push_back((event, Some(state)));
    }

    fn fault_event(&mut self, state: StateId, fault: &Fault) -> Event<D::Payload> {
        let data = self.state.data.fault(fault, &self.machine.chart().state(state).name);
        Event { key: EventKey::Known(self.machine.error_execution), data }
    }
}
