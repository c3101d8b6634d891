//! Leaves states: `exitStates`, `computeExitSet`, `getTransitionDomain`, `exitInterpreter`.

use interlock_chart::{
    Chart,
    model::{Kind, StateId, TransitionId},
};
use smallvec::SmallVec;

use super::Interpreter;
use crate::{Data, Effect, FormulaId, Observer, StateSet, Status, fault::Place};

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    pub(super) fn exit_states(&mut self, enabled: &[TransitionId]) {
        let exits = self.compute_exit_set(enabled);
        if exits.is_empty() {
            return;
        }
        self.record_history(&exits);
        for state in exits.iter_back() {
            self.exit_state(state);
            self.state.configuration.remove(state);
            self.states_to_invoke.remove(state);
            self.observer.exited(state);
        }
    }

    pub(super) fn compute_exit_set(&self, enabled: &[TransitionId]) -> StateSet {
        let mut exits = StateSet::new(self.machine.chart().states.len());
        for &transition in enabled {
            if let Some(domain) = self.domain(transition) {
                exits.union_with(&self.machine.nodes[domain.index()].descendants);
            }
        }
        exits.intersect_with(&self.state.configuration);
        exits
    }

    /// Returns the state inside which the transition moves, or `None` if it has no target.
    fn domain(&self, transition: TransitionId) -> Option<StateId> {
        let plan = self.machine.plan(transition);
        if plan.domain.is_some() || plan.targets.is_empty() {
            return plan.domain;
        }
        let mut targets = SmallVec::new();
        effective_targets(self.machine, &plan.targets, &self.state.history, &mut targets);
        let internal = self.machine.chart().transition(transition).internal;
        Some(transition_domain(self.machine.chart(), plan.source, internal, &targets))
    }

    fn record_history(&mut self, exits: &StateSet) {
        let machine = self.machine;
        for state in exits.iter() {
            for &(history, at) in &machine.nodes[state.index()].histories {
                let remembered = &mut self.state.history[at];
                remembered.copy_from(&self.state.configuration);
                remembered.intersect_with(&machine.nodes[state.index()].descendants);
                if machine.chart().state(history).kind == Kind::DeepHistory {
                    remembered.intersect_with(&machine.atomic);
                } else {
                    let children = &machine.chart().state(state).children;
                    let active: SmallVec<[StateId; 4]> =
                        children.iter().copied().filter(|&child| remembered.contains(child)).collect();
                    remembered.clear();
                    active.iter().for_each(|&child| remembered.insert(child));
                }
            }
        }
    }

    /// Executes the exit content and stops everything the state had started.
    fn exit_state(&mut self, state: StateId) {
        let machine = self.machine;
        let is_skipped = self.failed_exit == Some(state) && (self.is_fault || self.state.is_done());
        for block in machine.nodes[state.index()].exit.iter().filter(|_| !is_skipped) {
            self.execute_content(block, state, Place::Exit(state));
        }
        if machine.nodes[state.index()].is_active {
            self.stop_state(state);
        }
    }

    fn stop_state(&mut self, state: StateId) {
        let (chart, effects) = (self.machine.chart(), &mut *self.effects);
        self.state.running.retain(|running| {
            let stays = chart.invoke(running.invoke).state != state;
            if !stays {
                effects.push(Effect::CancelActivity { id: running.id });
            }
            stays
        });
        self.state.pending.retain(|pending| {
            let stays = pending.state != Some(state);
            if !stays {
                effects.push(Effect::ClearTimer { id: pending.id });
            }
            stays
        });
    }

    /// Ends the run. The configuration is kept, so that it shows the states in which the run ended. The output is the
    /// given one, or else the data of the final state.
    pub(super) fn exit_interpreter(&mut self, output: Option<D::Payload>) {
        if std::mem::replace(&mut self.is_exited, true) {
            return;
        }
        let active = self.state.configuration.clone();
        for state in active.iter_back() {
            self.exit_state(state);
        }
        self.state.pending.iter().for_each(|pending| self.effects.push(Effect::ClearTimer { id: pending.id }));
        self.state.pending.clear();
        let Status::Done { outcome } = self.state.status else { return };
        let top = &self.machine.chart().state(Chart::ROOT).children;
        let end = top.iter().copied().find(|&id| active.contains(id) && self.is_final(id) && output.is_none());
        let state = end.unwrap_or(Chart::ROOT);
        let data = match (output, self.machine.nodes[state.index()].data) {
            (None, Some(data)) if self.fault.is_none() => self.output(state, data),
            (output, _) => output,
        };
        self.effects.push(Effect::Finish { outcome, state, data });
    }

    fn output(&mut self, state: StateId, data: FormulaId) -> Option<D::Payload> {
        match self.with_data(|model, scope| model.payload(data, scope)) {
            Ok(data) => Some(data),
            Err(fault) if self.is_strict => {
                self.raise_fault(state, Place::Data(state), *fault);
                None
            }
            Err(_) => None,
        }
    }
}

/// Replaces history states among the targets by the states they currently stand for.
pub(super) fn effective_targets(
    machine: &crate::Machine,
    targets: &[StateId],
    history: &[StateSet],
    into: &mut SmallVec<[StateId; 4]>,
) {
    for &target in targets {
        let state = machine.chart().state(target);
        if !state.kind.is_history() {
            into.push(target);
            continue;
        }
        let at = machine.histories().iter().position(|&history| history == target);
        match at.map(|at| &history[at]).filter(|remembered| !remembered.is_empty()) {
            Some(remembered) => into.extend(remembered.iter()),
            None => {
                let default = state.initial.as_ref().map_or(&[][..], |initial| &initial.targets);
                // The default of a history state is never another history state: the reader refuses such a file.
                into.extend(default.iter().copied().filter(|&id| !machine.chart().state(id).kind.is_history()));
            }
        }
    }
}

/// `getTransitionDomain`: the innermost compound state that contains source and targets, or the source of an internal
/// transition.
pub(crate) fn transition_domain(chart: &Chart, source: StateId, internal: bool, targets: &[StateId]) -> StateId {
    let is_inside = |outer: StateId| targets.iter().all(|&target| chart.is_descendant(target, outer));
    if internal && chart.state(source).kind == Kind::Compound && is_inside(source) {
        return source;
    }
    // `findLCCA`: the nearest compound proper ancestor of the source that contains all targets. The root contains all.
    chart
        .ancestors(source)
        .find(|&ancestor| chart.state(ancestor).kind == Kind::Compound && is_inside(ancestor))
        .unwrap_or(Chart::ROOT)
}
