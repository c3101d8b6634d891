//! The algorithm for SCXML interpretation, appendix D of the W3C recommendation, on plain data.
//!
//! `macrostep` below is appendix D's `mainEventLoop` for one external event. The other procedures are in files named
//! after their task: `select.rs`, `exit.rs`, `enter.rs`, `content.rs`. The engine adds three things: counters (a
//! transition with a limit is enabled while its counter is below the limit), timers of states, and a bound on the
//! length of a macrostep. It restricts one: an event with an origin is heard inside that state, and elsewhere only by
//! its qualified name. It replaces one: an expression that cannot be evaluated stops the step (`fault.rs`).

mod content;
mod enter;
mod exit;
mod fault;
mod select;

use std::collections::VecDeque;

pub(crate) use enter::{EntrySet, compute_entry_set};
pub(crate) use exit::transition_domain;
use interlock_chart::{
    Chart,
    model::{Dialect, StateId, TransitionId},
};
use smallvec::SmallVec;

use crate::{
    Data, Effect, Event, EventKey, Fault, Machine, Observer, Scope, Semantics, State, StateSet, Status,
    bounds::{MACROSTEP_ROUNDS_MAX, RESCUE_ROUNDS_MAX},
    fault::Place,
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
    /// True if an expression that cannot be evaluated stops the step.
    is_strict: bool,
    /// The first fault of the current selection or microstep, with the state it belongs to. Only in strict runs.
    fault: Option<(StateId, Box<Fault>)>,
    /// True while a fault is being handled: only transitions that name its event take it.
    is_fault: bool,
    /// The state whose exit content has failed. The transition that handles the fault leaves the state without it.
    failed_exit: Option<StateId>,
    /// True if the states of the ended run have been left.
    is_exited: bool,
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
            is_strict: state.semantics >= Semantics::Strict && machine.chart().dialect == Dialect::Native,
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
            fault: None,
            is_fault: false,
            failed_exit: None,
            is_exited: false,
        }
    }

    /// Enters the initial configuration of the machine.
    pub(crate) fn start(&mut self) {
        self.state.status = Status::Running;
        for at in 0..self.machine.initial_context().len() {
            let (var, value) = (interlock_chart::model::VarId::at(at), self.machine.initial_context()[at]);
            if let Err(fault) = self.with_data(|data, scope| data.assign(var, value, scope)) {
                self.raise_fault(Chart::ROOT, Place::Variable(var), *fault);
            }
        }
        self.enter_initial_states();
        self.is_settled = false;
        if self.is_strict {
            self.settle_start();
        }
        self.complete_macrostep();
        self.drain_external_queue();
    }

    /// Handles a fault of the start. There is no earlier configuration to return to, so it is handled in the initial one.
    fn settle_start(&mut self) {
        if self.fault.is_none() && self.state.is_done() {
            let before = self.save();
            self.exit_interpreter(None);
            if self.fault.is_some() {
                self.restore(before);
            }
        }
        if self.fault.is_some() {
            self.state.status = Status::Running;
            self.settle_fault();
        }
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
        self.exit_interpreter(None);
        if let Some((_, fault)) = self.fault.take() {
            self.observer.faulted(&fault);
        }
    }

    fn drain_external_queue(&mut self) {
        while self.state.status == Status::Running {
            let Some(event) = self.external_queue.pop_front() else { break };
            self.macrostep(event, None);
        }
    }

    fn macrostep(&mut self, event: Event<D::Payload>, origin: Option<StateId>) {
        self.take_event(event, origin);
        self.settle_fault();
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
        self.origin = origin.filter(|_| self.state.semantics >= Semantics::Scoped);
        let enabled = self.select_transitions();
        if enabled.is_empty() {
            self.is_settled &= !is_asked_about;
            return false;
        }
        self.microstep(&enabled);
        self.fault.is_none()
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
                }
                if !enabled.is_empty() || self.fault.is_some() {
                    self.settle_fault();
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
                    self.settle_fault();
                    if !self.count_round() {
                        return;
                    }
                }
                None => {
                    self.invoke_states();
                    if self.fault.is_some() {
                        self.settle_fault();
                        if !self.count_round() {
                            return;
                        }
                    } else if self.internal_queue.is_empty() {
                        break;
                    }
                }
            }
        }
        if self.state.is_done() {
            self.exit_interpreter(None);
        }
    }

    fn may_be_eventless(&self) -> bool {
        self.state.configuration.intersects(&self.machine.eventless)
    }

    /// Takes transitions, or none of them: if something on their way cannot be evaluated, all of it is taken back.
    fn microstep(&mut self, enabled: &[TransitionId]) {
        let before = self.may_fault(enabled).then(|| self.save());
        self.perform(enabled);
        // The end of the run is part of the step that reaches it, so that its exit content and data can stop it.
        if self.is_strict && self.fault.is_none() && self.state.is_done() {
            self.exit_interpreter(None);
        }
        if let (Some(before), true) = (before, self.fault.is_some()) {
            self.restore(before);
            self.observer.withdrawn(enabled);
            return;
        }
        self.any_taken = true;
        self.is_settled = false;
    }

    fn perform(&mut self, enabled: &[TransitionId]) {
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
        let fault = Fault::new(format!("no rest after {MACROSTEP_ROUNDS_MAX} rounds of one macrostep"));
        let fault = fault.at(Place::Machine, self.machine.chart());
        if self.is_rescue {
            self.fail(Chart::ROOT, &fault);
            return false;
        }
        self.is_rescue = true;
        self.rounds_left = RESCUE_ROUNDS_MAX;
        self.internal_queue.clear();
        self.external_queue.clear();
        if self.is_strict {
            self.fault = Some((Chart::ROOT, Box::new(fault)));
            self.settle_fault();
            return !self.is_exited;
        }
        self.observer.faulted(&fault);
        let event = self.fault_event(Chart::ROOT, &fault);
        let is_taken = self.take_event(event, None);
        if !is_taken {
            // Otherwise the machine would loop for ever.
            self.fail(Chart::ROOT, &fault);
        }
        is_taken
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
}
