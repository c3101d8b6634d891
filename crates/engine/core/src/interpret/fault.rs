//! Expressions that cannot be evaluated.
//!
//! The rule: an expression that fails never decides. A guard that fails ends the selection, so that no transition is
//! taken for the event, in any region. Content that fails takes the whole microstep back, so that the states before it
//! are still active. Then `error.execution` is handled before anything else, by a transition that names it. If there is
//! none, or if handling it fails too, the run ends in failure.
//!
//! Machines with `semantics: scxml`, and runs that began under older rules, keep the rule of W3C SCXML: the guard is
//! false, the block ends, and `error.execution` waits in the internal queue.

use interlock_chart::{
    Chart,
    model::{Outcome, StateId, TransitionId},
};

use super::Interpreter;
use crate::{Data, Event, EventKey, Fault, Observer, Pending, Running, StateSet, Status, fault::Place};

/// Everything that a microstep can change, to take it back.
pub(super) struct Saved<D: Data> {
    configuration: StateSet,
    history: Vec<StateSet>,
    counters: Vec<u32>,
    running: Vec<Running>,
    pending: Vec<Pending<D::Payload>>,
    status: Status,
    next_id: u64,
    data: D::Saved,
    states_to_invoke: StateSet,
    is_exited: bool,
    effects: usize,
    internal: usize,
    external: usize,
}

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    /// Reports that a formula of a state could not be evaluated.
    pub(super) fn raise_fault(&mut self, state: StateId, place: Place, fault: Fault) {
        let fault = fault.at(place, self.machine.chart());
        if self.is_strict {
            if self.fault.is_none() {
                self.fault = Some((state, Box::new(fault)));
                self.failed_exit = if let Place::Exit(state) = place { Some(state) } else { None };
            }
            return;
        }
        self.observer.faulted(&fault);
        let event = self.fault_event(state, &fault);
        self.internal_queue.push_back((event, Some(state)));
    }

    /// Handles the fault of the last selection or microstep, if there was one, before anything else happens.
    pub(super) fn settle_fault(&mut self) {
        let Some((state, fault)) = self.fault.take() else { return };
        self.observer.faulted(&fault);
        let event = self.fault_event(state, &fault);
        self.is_fault = true;
        let is_taken = self.take_event(event, Some(state));
        self.is_fault = false;
        if let Some((_, second)) = self.fault.take() {
            self.observer.faulted(&second);
        }
        // Only the start can fault in a final state. A handler that stays there has not said where the run goes.
        if !is_taken || (self.state.status == Status::Running && self.is_at_end()) {
            self.fail(state, &fault);
        }
        self.failed_exit = None;
    }

    /// Ends the run in failure, with the fault as its output. The configuration is kept, so that it shows the states in
    /// which the fault happened.
    pub(super) fn fail(&mut self, state: StateId, fault: &Fault) {
        self.any_taken = true;
        self.observer.failed(fault);
        self.internal_queue.clear();
        self.external_queue.clear();
        self.state.status = Status::Done { outcome: Some(Outcome::Failure) };
        let name = &self.machine.chart().state(state).name;
        let output = self.is_strict.then(|| self.state.data.fault(fault, name));
        self.exit_interpreter(output);
        // Exit content may fail as well. The run has ended, so its faults are only reported.
        if let Some((_, other)) = self.fault.take() {
            self.observer.faulted(&other);
        }
    }

    fn is_at_end(&self) -> bool {
        let top = &self.machine.chart().state(Chart::ROOT).children;
        top.iter().any(|&id| self.is_final(id) && self.state.configuration.contains(id))
    }

    pub(super) fn fault_event(&mut self, state: StateId, fault: &Fault) -> Event<D::Payload> {
        let name = &self.machine.chart().state(state).name;
        let data = match self.is_strict {
            true => self.state.data.fault(fault, name),
            // Runs under older rules get the data of their time.
            false => self.state.data.fault(&Fault { place: String::new(), ..fault.clone() }, name),
        };
        Event { key: EventKey::Known(self.machine.error_execution), data }
    }

    /// Returns true if the microstep of these transitions may have to be taken back.
    pub(super) fn may_fault(&self, enabled: &[TransitionId]) -> bool {
        self.is_strict && (self.machine.states_may_fault || enabled.iter().any(|&id| self.machine.plan(id).may_fault))
    }

    pub(super) fn save(&self) -> Saved<D> {
        Saved {
            configuration: self.state.configuration.clone(),
            history: self.state.history.clone(),
            counters: self.state.counters.clone(),
            running: self.state.running.clone(),
            pending: self.state.pending.clone(),
            status: self.state.status,
            next_id: self.state.next_id,
            data: self.state.data.save(),
            states_to_invoke: self.states_to_invoke.clone(),
            is_exited: self.is_exited,
            effects: self.effects.len(),
            internal: self.internal_queue.len(),
            external: self.external_queue.len(),
        }
    }

    pub(super) fn restore(&mut self, saved: Saved<D>) {
        self.state.configuration = saved.configuration;
        self.state.history = saved.history;
        self.state.counters = saved.counters;
        self.state.running = saved.running;
        self.state.pending = saved.pending;
        self.state.status = saved.status;
        self.state.next_id = saved.next_id;
        self.state.data.restore(saved.data);
        self.states_to_invoke = saved.states_to_invoke;
        self.is_exited = saved.is_exited;
        self.effects.truncate(saved.effects);
        self.internal_queue.truncate(saved.internal);
        self.external_queue.truncate(saved.external);
    }
}
