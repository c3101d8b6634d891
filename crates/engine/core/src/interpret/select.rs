//! Selects the transitions to take: `selectTransitions`, `selectEventlessTransitions`, `removeConflictingTransitions`.

use interlock_chart::model::{CounterId, Descriptor, EventId, OriginEvent, StateId, TransitionId};
use smallvec::SmallVec;

use super::{Enabled, Interpreter};
use crate::{Data, Event, EventKey, Fault, Observer, Refusal, fault::Place, machine::Node};

/// The trigger for which transitions are selected.
#[derive(Clone, Copy)]
enum Trigger {
    None,
    Known(EventId),
    /// An event of one state, heard inside that state: by its plain name and by its qualified name.
    Inside(StateId, EventId),
    /// An event of one state, heard elsewhere: by its qualified name only.
    Outside(StateId, EventId),
    /// An event the machine does not know: only a prefix or a wildcard takes it.
    Other,
}

/// The working state of one selection.
struct Selection {
    trigger: Trigger,
    enabled: Enabled,
    asked: Asked,
}

/// Answers given in this selection, so that a transition reached from two regions is evaluated once.
type Asked = SmallVec<[(TransitionId, bool); 8]>;

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    /// Selects the transitions for the event being handled.
    pub(super) fn select_transitions(&mut self) -> Enabled {
        let key = self.event.as_ref().map(|event| &event.key);
        self.observer.considering(key, self.origin);
        match (key, self.origin) {
            (Some(EventKey::Known(event)), Some(origin)) => self.select_scoped(origin, *event),
            (Some(EventKey::Known(event)), None) => self.select(Trigger::Known(*event)),
            (Some(EventKey::Other(_)), _) => self.select(Trigger::Other),
            (None, _) => self.select(Trigger::None),
        }
    }

    pub(super) fn select_eventless_transitions(&mut self) -> Enabled {
        self.observer.considering(None, None);
        self.select(Trigger::None)
    }

    fn select(&mut self, trigger: Trigger) -> Enabled {
        let machine = self.machine;
        let atomic: SmallVec<[StateId; 8]> = self.state.configuration.iter_and(&machine.atomic).collect();
        let mut selection = Selection { trigger, enabled: Enabled::new(), asked: Asked::new() };
        atomic.into_iter().for_each(|state| self.enable_first(state, &mut selection));
        self.without_conflicts(selection.enabled)
    }

    /// Selects the transitions for an event that belongs to a state. Atomic states inside that state hear it. Other
    /// atomic states hear it only if they or their ancestors name it by its qualified name.
    fn select_scoped(&mut self, origin: StateId, event: EventId) -> Enabled {
        let machine = self.machine;
        let scope = self.scope(origin);
        let inside = &machine.nodes[scope.index()].descendants;
        let atomic: SmallVec<[StateId; 8]> = self.state.configuration.iter_and(&machine.atomic).collect();
        let mut selection =
            Selection { trigger: Trigger::Inside(origin, event), enabled: Enabled::new(), asked: Asked::new() };
        for state in atomic {
            selection.trigger = match state == scope || inside.contains(state) {
                true => Trigger::Inside(origin, event),
                false if machine.listeners.contains(state) => Trigger::Outside(origin, event),
                false => continue,
            };
            self.enable_first(state, &mut selection);
        }
        self.without_conflicts(selection.enabled)
    }

    /// The state within which an event is heard: its origin or, if that has been left since, the nearest active
    /// ancestor.
    fn scope(&self, origin: StateId) -> StateId {
        let mut scope = origin;
        while !self.state.configuration.contains(scope) {
            let Some(parent) = self.machine.nodes[scope.index()].parent else { break };
            scope = parent;
        }
        scope
    }

    fn enable_first(&mut self, state: StateId, selection: &mut Selection) {
        if self.fault.is_some() {
            return;
        }
        let transition = self.first_enabled(state, selection);
        let enabled = &mut selection.enabled;
        enabled.extend(transition.filter(|transition| !enabled.contains(transition)));
    }

    fn without_conflicts(&mut self, enabled: Enabled) -> Enabled {
        if self.fault.is_some() {
            return Enabled::new();
        }
        if enabled.len() > 1 { self.remove_conflicting_transitions(enabled) } else { enabled }
    }

    /// Returns the first enabled transition of the state or, going outwards, of its ancestors.
    fn first_enabled(&mut self, state: StateId, selection: &mut Selection) -> Option<TransitionId> {
        let machine = self.machine;
        let mut at = Some(state);
        while let Some(state) = at {
            let node = &machine.nodes[state.index()];
            for &transition in self.candidates(node, selection.trigger) {
                if self.takes(transition, selection.trigger) && self.is_enabled_once(transition, selection) {
                    return Some(transition);
                }
                if self.fault.is_some() {
                    return None;
                }
            }
            at = node.parent;
        }
        None
    }

    fn candidates<'m>(&self, node: &'m Node, trigger: Trigger) -> &'m [TransitionId] {
        match trigger {
            Trigger::None => &node.always,
            Trigger::Known(event) => node.takers(event),
            Trigger::Inside(origin, event) => {
                node.named(origin, event).map_or_else(|| node.takers(event), |named| &named.inside)
            }
            Trigger::Outside(origin, event) => node.named(origin, event).map_or(&[], |named| &named.outside),
            Trigger::Other => &node.open,
        }
    }

    /// Returns true if the transition takes the event. Descriptors of an unknown event are compared here; those of
    /// known events were compared when the machine was compiled. A wildcard does not take a fault.
    fn takes(&self, transition: TransitionId, trigger: Trigger) -> bool {
        if self.is_fault {
            return self.names_fault(transition, trigger);
        }
        match (trigger, &self.event) {
            (Trigger::Other, Some(Event { key: EventKey::Other(name), .. })) => {
                self.machine.chart().transition(transition).events.iter().any(|event| event.matches(name))
            }
            _ => true,
        }
    }

    /// Returns true if a descriptor of the transition names the fault: `error.execution` or `error` inside the state of
    /// the fault, or the qualified name anywhere.
    fn names_fault(&self, transition: TransitionId, trigger: Trigger) -> bool {
        let names = |descriptor: &Descriptor| match (descriptor.origin, trigger) {
            (Some(named), Trigger::Inside(origin, _) | Trigger::Outside(origin, _)) => {
                named.state == origin && matches!(named.event, OriginEvent::Error | OriginEvent::Fault)
            }
            (None, Trigger::Inside(..) | Trigger::Known(_)) => {
                !descriptor.prefix().is_empty() && descriptor.matches("error.execution")
            }
            _ => false,
        };
        self.machine.chart().transition(transition).events.iter().any(names)
    }

    fn is_enabled_once(&mut self, transition: TransitionId, selection: &mut Selection) -> bool {
        if let Some((_, answer)) = selection.asked.iter().find(|(known, _)| *known == transition) {
            return *answer;
        }
        let answer = self.is_enabled(transition, &selection.enabled);
        selection.asked.push((transition, answer));
        answer
    }

    /// Evaluates the guard first: the limit is checked only if the guard holds.
    fn is_enabled(&mut self, transition: TransitionId, before: &[TransitionId]) -> bool {
        let plan = self.machine.plan(transition);
        if let Some(guard) = plan.guard {
            if O::VALUES {
                let values = self.with_data(|data, scope| data.explain(guard, scope));
                self.observer.weighed(transition, values);
            }
            match self.with_data(|data, scope| data.holds(guard, scope)) {
                Ok(true) => {}
                Ok(false) => {
                    self.observer.refused(transition, Refusal::Guard);
                    return false;
                }
                Err(fault) => return self.refuse_faulty(transition, Place::Guard(transition), *fault),
            }
        }
        for &(counter, max, input) in &plan.limits {
            let count = self.state.counters[counter.index()].saturating_add(self.counted_by(before, counter));
            let is_below = match input {
                None => Ok(self.state.data.is_within(counter, count, max)),
                Some(formula) => self.with_data(|data, scope| data.is_below(counter, count, formula, max, scope)),
            };
            match is_below {
                Ok(true) => {}
                Ok(false) => {
                    self.observer.refused(transition, Refusal::Limit { counter, count });
                    return false;
                }
                Err(fault) => return self.refuse_faulty(transition, Place::Limit(transition), *fault),
            }
        }
        true
    }

    /// Returns how often the enabled transitions of other regions will increase the counter, so that two regions that
    /// share a counter do not exceed its maximum together.
    fn counted_by(&self, enabled: &[TransitionId], counter: CounterId) -> u32 {
        let counts =
            |id: &TransitionId| self.machine.plan(*id).limits.iter().filter(|limit| limit.0 == counter).count();
        u32::try_from(enabled.iter().map(counts).sum::<usize>()).unwrap_or(u32::MAX)
    }

    fn refuse_faulty(&mut self, transition: TransitionId, place: Place, fault: Fault) -> bool {
        self.observer.refused(transition, Refusal::Fault);
        self.raise_fault(self.machine.plan(transition).source, place, fault);
        false
    }

    /// If two transitions leave the same state, keeps the one whose source is inside the other's source; otherwise the
    /// first in document order.
    fn remove_conflicting_transitions(&mut self, enabled: Enabled) -> Enabled {
        if enabled.len() < 2 {
            return enabled;
        }
        let mut kept = Enabled::new();
        for candidate in enabled {
            let exits = self.compute_exit_set(&[candidate]);
            let source = self.machine.plan(candidate).source;
            let mut is_preempted = false;
            let mut displaced = Enabled::new();
            for &earlier in &kept {
                if exits.intersects(&self.compute_exit_set(&[earlier])) {
                    if self.machine.descendants(self.machine.plan(earlier).source).contains(source) {
                        displaced.push(earlier);
                    } else {
                        is_preempted = true;
                        break;
                    }
                }
            }
            if is_preempted {
                self.observer.refused(candidate, Refusal::Preempted);
                continue;
            }
            displaced.iter().for_each(|&earlier| self.observer.refused(earlier, Refusal::Preempted));
            kept.retain(|earlier| !displaced.contains(earlier));
            kept.push(candidate);
        }
        kept
    }
}
