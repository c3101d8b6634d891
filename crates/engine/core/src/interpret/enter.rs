//! Enters states: `enterStates`, `computeEntrySet`, `addDescendantStatesToEnter`, `addAncestorStatesToEnter`,
//! `isInFinalState`.

use interlock_chart::{
    Chart,
    model::{Kind, StateId, TransitionId},
};
use smallvec::SmallVec;

use super::{Interpreter, exit::effective_targets};
use crate::{
    Data, Effect, Event, EventKey, Machine, Observer, Pending, Running, StateSet, Status, TimerId, fault::Place,
};

/// The states to enter, and the reasons for entering them.
pub(crate) struct EntrySet {
    pub(crate) states: StateSet,
    /// States entered by default: the content of their initial transition is executed too.
    default_entry: StateSet,
    /// Parents of history states that had nothing recorded: the history's default content is executed when they are
    /// entered.
    history_content: SmallVec<[(StateId, StateId); 1]>,
    asked_history: bool,
}

impl EntrySet {
    pub(crate) fn new(machine: &Machine) -> Self {
        let states = machine.chart().states.len();
        EntrySet {
            states: StateSet::new(states),
            default_entry: StateSet::new(states),
            history_content: SmallVec::new(),
            asked_history: false,
        }
    }

    /// Returns true if the set is the same every time and entering it executes no content of initial transitions.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.asked_history && self.default_entry.is_empty()
    }
}

pub(crate) fn compute_entry_set(
    machine: &Machine,
    enabled: &[TransitionId],
    history: &[StateSet],
    entry: &mut EntrySet,
) {
    for &transition in enabled {
        let plan = machine.plan(transition);
        if plan.targets.is_empty() {
            continue;
        }
        let mut effective = SmallVec::<[StateId; 4]>::new();
        effective_targets(machine, &plan.targets, history, &mut effective);
        let internal = machine.chart().transition(transition).internal;
        let domain = super::transition_domain(machine.chart(), plan.source, internal, &effective);
        let mut builder = Builder { machine, history, entry };
        plan.targets.iter().for_each(|&target| builder.add_descendant_states_to_enter(target));
        effective.iter().for_each(|&target| builder.add_ancestor_states_to_enter(target, domain));
        // Appendix D defines no parallel root. If the root is parallel and all of it was left, its regions are entered
        // again.
        if domain == Chart::ROOT && machine.chart().state(domain).kind == Kind::Parallel {
            builder.add_regions(domain);
        }
    }
}

struct Builder<'a> {
    machine: &'a Machine,
    history: &'a [StateSet],
    entry: &'a mut EntrySet,
}

impl Builder<'_> {
    fn add_descendant_states_to_enter(&mut self, id: StateId) {
        let state = self.machine.chart().state(id);
        if state.kind.is_history() {
            return self.add_history(id);
        }
        self.entry.states.insert(id);
        match state.kind {
            Kind::Compound => {
                self.entry.default_entry.insert(id);
                let targets = state.initial.as_ref().map_or(&[][..], |initial| &initial.targets);
                targets.iter().for_each(|&target| self.add_descendant_states_to_enter(target));
                targets.iter().for_each(|&target| self.add_ancestor_states_to_enter(target, id));
            }
            Kind::Parallel => self.add_regions(id),
            _ => {}
        }
    }

    /// Enters by default those regions of a parallel state that contain no target yet.
    fn add_regions(&mut self, id: StateId) {
        for &child in &self.machine.chart().state(id).children {
            let is_led_into = self.entry.states.contains(child)
                || self.entry.states.intersects(&self.machine.nodes[child.index()].descendants);
            if !is_led_into && !self.machine.chart().state(child).kind.is_history() {
                self.add_descendant_states_to_enter(child);
            }
        }
    }

    fn add_history(&mut self, id: StateId) {
        self.entry.asked_history = true;
        let Some(parent) = self.machine.chart().state(id).parent else { return };
        let mut targets = SmallVec::<[StateId; 4]>::new();
        effective_targets(self.machine, &[id], self.history, &mut targets);
        let at = self.machine.histories().iter().position(|&history| history == id);
        if at.is_none_or(|at| self.history[at].is_empty()) {
            self.entry.history_content.push((parent, id));
        }
        targets.iter().for_each(|&target| self.add_descendant_states_to_enter(target));
        targets.iter().for_each(|&target| self.add_ancestor_states_to_enter(target, parent));
    }

    fn add_ancestor_states_to_enter(&mut self, id: StateId, up_to: StateId) {
        let chart = self.machine.chart();
        for ancestor in chart.ancestors(id).take_while(|&ancestor| ancestor != up_to) {
            self.entry.states.insert(ancestor);
            if chart.state(ancestor).kind == Kind::Parallel {
                self.add_regions(ancestor);
            }
        }
    }
}

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    pub(super) fn enter_states(&mut self, enabled: &[TransitionId]) {
        let machine = self.machine;
        if let [one] = enabled {
            let plan = machine.plan(*one);
            if let Some(states) = &plan.entry {
                return states.iter().for_each(|&state| self.enter_state(state, None));
            }
            if plan.targets.is_empty() {
                return;
            }
        }
        let mut entry = EntrySet::new(machine);
        compute_entry_set(machine, enabled, &self.state.history, &mut entry);
        self.enter_set(&entry);
    }

    pub(super) fn enter_initial_states(&mut self) {
        let mut entry = EntrySet::new(self.machine);
        Builder { machine: self.machine, history: &self.state.history, entry: &mut entry }
            .add_descendant_states_to_enter(Chart::ROOT);
        self.enter_set(&entry);
    }

    fn enter_set(&mut self, entry: &EntrySet) {
        entry.states.iter().for_each(|state| self.enter_state(state, Some(entry)));
    }

    fn enter_state(&mut self, state: StateId, entry: Option<&EntrySet>) {
        let node = &self.machine.nodes[state.index()];
        self.state.configuration.insert(state);
        self.state.data.entered(state);
        self.observer.entered(state);
        if node.is_active {
            self.states_to_invoke.insert(state);
        }
        for block in &node.entry {
            self.execute_content(block, state, Place::Entry(state));
        }
        if let Some(entry) = entry {
            if entry.default_entry.contains(state) {
                self.execute_content(&node.initial, state, Place::Initial(state));
            }
            for &(_, history) in entry.history_content.iter().filter(|(parent, _)| *parent == state) {
                let content = &self.machine.nodes[history.index()].initial;
                self.execute_content(content, history, Place::Initial(history));
            }
        }
        if self.machine.chart().state(state).kind == Kind::Final {
            self.enter_final_state(state);
        }
    }

    fn enter_final_state(&mut self, state: StateId) {
        let chart = self.machine.chart();
        let Some(parent) = chart.state(state).parent else { return };
        if parent == Chart::ROOT && chart.state(parent).kind != Kind::Parallel {
            self.state.status = Status::Done { outcome: chart.state(state).outcome };
            return;
        }
        if parent != Chart::ROOT {
            self.raise_done(parent, Some(state));
        }
        self.complete_parallel_ancestors(parent);
    }

    /// Raises `done` for a parallel state whose regions are all done, and for parallel ancestors that this completes.
    fn complete_parallel_ancestors(&mut self, region: StateId) {
        let chart = self.machine.chart();
        for ancestor in chart.ancestors(region) {
            if chart.state(ancestor).kind != Kind::Parallel || !self.is_in_final_state(ancestor) {
                return;
            }
            match ancestor {
                Chart::ROOT => self.state.status = Status::Done { outcome: None },
                _ => self.raise_done(ancestor, None),
            }
        }
    }

    fn raise_done(&mut self, of: StateId, by: Option<StateId>) {
        let own = by.and_then(|by| Some((by, self.machine.nodes[by.index()].data?)));
        let data = match own.filter(|_| self.fault.is_none()) {
            None => self.state.data.nothing(),
            Some((by, data)) => match self.with_data(|model, scope| model.payload(data, scope)) {
                Ok(data) => data,
                Err(fault) => {
                    self.raise_fault(of, Place::Data(by), *fault);
                    self.state.data.nothing()
                }
            },
        };
        let key = EventKey::Known(self.machine.nodes[of.index()].done);
        self.internal_queue.push_back((Event { key, data }, None));
    }

    /// Returns true if the state is a final state.
    pub(super) fn is_final(&self, id: StateId) -> bool {
        self.machine.chart().state(id).kind == Kind::Final
    }

    fn is_in_final_state(&self, id: StateId) -> bool {
        let chart = self.machine.chart();
        let is_active = |id: StateId| self.state.configuration.contains(id);
        let children = &chart.state(id).children;
        match chart.state(id).kind {
            Kind::Compound => children.iter().any(|&at| self.is_final(at) && is_active(at)),
            Kind::Parallel => (children.iter())
                .filter(|at| !chart.state(**at).kind.is_history())
                .all(|&child| self.is_in_final_state(child)),
            _ => false,
        }
    }

    /// Starts the activities and timers of the states that this macrostep has entered and not left again.
    pub(super) fn invoke_states(&mut self) {
        if self.states_to_invoke.is_empty() {
            return;
        }
        let states = std::mem::replace(&mut self.states_to_invoke, StateSet::new(self.machine.chart().states.len()));
        for state in states.iter() {
            if self.fault.is_some() {
                // The fault is handled first. The state begins afterwards, if it is still active then.
                self.states_to_invoke.insert(state);
                continue;
            }
            self.set_timeout(state);
            for at in 0..self.machine.chart().state(state).invokes.len() {
                self.invoke(self.machine.chart().state(state).invokes[at], state);
            }
        }
    }

    fn set_timeout(&mut self, state: StateId) {
        let Some(after_ms) = self.machine.chart().state(state).timeout_ms else { return };
        let id = TimerId(self.state.fresh_id());
        let data = self.state.data.timeout(&self.machine.chart().state(state).name);
        let event = Event { key: EventKey::Known(self.machine.timeout_event(state)), data };
        self.state.pending.push(Pending { id, state: Some(state), name: None, event });
        self.effects.push(Effect::SetTimer { id, after_ms });
    }

    fn invoke(&mut self, invoke: interlock_chart::model::InvokeId, state: StateId) {
        if self.fault.is_some() {
            return;
        }
        let with = self.machine.with[invoke.index()];
        match self.with_data(|data, scope| data.payload(with, scope)) {
            Ok(with) => {
                let id = crate::ActivityId(self.state.fresh_id());
                self.state.running.push(Running { id, invoke });
                self.observer.started(invoke);
                self.effects.push(Effect::StartActivity { id, invoke, with });
            }
            Err(fault) => self.raise_fault(state, Place::With(invoke), *fault),
        }
    }
}
