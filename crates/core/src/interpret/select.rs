//! Which transitions are taken: `selectTransitions`, `selectEventlessTransitions`, `removeConflictingTransitions`.

use interlock_chart::model::{CounterId, EventId, StateId, TransitionId};
use smallvec::SmallVec;

use super::{Enabled, Interpreter};
use crate::{Data, Event, EventKey, Observer, Refusal, machine::Node};

/// What transitions are selected for.
#[derive(Clone, Copy)]
enum Trigger {
    None,
    Known(EventId),
    /// An event the machine does not know: only a prefix or a wildcard takes it.
    Other,
}

/// One selection at work.
struct Selection {
    trigger: Trigger,
    enabled: Enabled,
    asked: Asked,
}

/// Answers given in this selection, so that a transition reached from two regions is asked about once.
type Asked = SmallVec<[(TransitionId, bool); 8]>;

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    /// For the event being handled.
    pub(super) fn select_transitions(&mut self) -> Enabled {
        let key = self.event.as_ref().map(|event| &event.key);
        self.observer.considering(key);
        let trigger = match key {
            Some(EventKey::Known(event)) => Trigger::Known(*event),
            Some(EventKey::Other(_)) => Trigger::Other,
            None => Trigger::None,
        };
        self.select(trigger)
    }

    pub(super) fn select_eventless_transitions(&mut self) -> Enabled {
        self.observer.considering(None);
        self.select(Trigger::None)
    }

    fn select(&mut self, trigger: Trigger) -> Enabled {
        let machine = self.machine;
        let atomic: SmallVec<[StateId; 8]> = self.state.configuration.iter_and(&machine.atomic).collect();
        let mut selection = Selection { trigger, enabled: Enabled::new(), asked: Asked::new() };
        for state in atomic {
            let transition = self.first_enabled(state, &mut selection);
            let enabled = &mut selection.enabled;
            enabled.extend(transition.filter(|transition| !enabled.contains(transition)));
        }
        let enabled = selection.enabled;
        if enabled.len() > 1 { self.remove_conflicting_transitions(enabled) } else { enabled }
    }

    /// The first enabled transition of the state or, going outwards, of its ancestors.
    fn first_enabled(&mut self, state: StateId, selection: &mut Selection) -> Option<TransitionId> {
        let machine = self.machine;
        let mut at = Some(state);
        while let Some(state) = at {
            let node = &machine.nodes[state.index()];
            for &transition in self.candidates(node, selection.trigger) {
                if self.takes(transition, selection.trigger) && self.is_enabled_once(transition, selection) {
                    return Some(transition);
                }
            }
            at = node.parent;
        }
        None
    }

    fn candidates<'m>(&self, node: &'m Node, trigger: Trigger) -> &'m [TransitionId] {
        match trigger {
            Trigger::None => &node.always,
            Trigger::Known(event) => {
                node.on.iter().find(|(known, _)| *known == event).map_or(&[], |(_, takers)| takers)
            }
            Trigger::Other => &node.open,
        }
    }

    /// For an event the machine does not know, descriptors are compared here; for known ones that was done beforehand.
    fn takes(&self, transition: TransitionId, trigger: Trigger) -> bool {
        match (trigger, &self.event) {
            (Trigger::Other, Some(Event { key: EventKey::Other(name), .. })) => {
                self.machine.chart().transition(transition).events.iter().any(|event| event.matches(name))
            }
            _ => true,
        }
    }

    fn is_enabled_once(&mut self, transition: TransitionId, selection: &mut Selection) -> bool {
        if let Some((_, answer)) = selection.asked.iter().find(|(known, _)| *known == transition) {
            return *answer;
        }
        let answer = self.is_enabled(transition, &selection.enabled);
        selection.asked.push((transition, answer));
        answer
    }

    /// The guard first: a limit is asked only of a transition that is meant.
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
                Err(fault) => return self.refuse_faulty(transition, plan.source, *fault),
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
                Err(fault) => return self.refuse_faulty(transition, plan.source, *fault),
            }
        }
        true
    }

    /// How often the counter will be counted by transitions of other regions that are enabled already: two regions that share
    /// a counter do not pass its maximum together.
    fn counted_by(&self, enabled: &[TransitionId], counter: CounterId) -> u32 {
        let counts =
            |id: &TransitionId| self.machine.plan(*id).limits.iter().filter(|limit| limit.0 == counter).count();
        u32::try_from(enabled.iter().map(counts).sum::<usize>()).unwrap_or(u32::MAX)
    }

    fn refuse_faulty(&mut self, transition: TransitionId, source: StateId, fault: crate::Fault) -> bool {
        self.observer.refused(transition, Refusal::Fault);
        self.raise_fault(source, fault);
        false
    }

    /// Of two transitions that leave the same state, the one whose source is deeper goes first, then the one that comes first.
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
