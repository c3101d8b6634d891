//! Which transitions are taken: `selectTransitions`, `selectEventlessTransitions`, `removeConflictingTransitions`.

use interlock_chart::model::{StateId, TransitionId};
use smallvec::SmallVec;

use super::{Enabled, Interpreter};
use crate::{Data, EventKey, Observer, Refusal};

/// Answers given in this selection, so that a transition reached from two regions is asked about once.
type Asked = SmallVec<[(TransitionId, bool); 8]>;

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    pub(super) fn select_transitions(&mut self, key: &EventKey) -> Enabled {
        self.observer.considering(Some(key));
        self.select(Some(key))
    }

    pub(super) fn select_eventless_transitions(&mut self) -> Enabled {
        self.observer.considering(None);
        self.select(None)
    }

    fn select(&mut self, key: Option<&EventKey>) -> Enabled {
        let machine = self.machine;
        let atomic: SmallVec<[StateId; 8]> = self.state.configuration.iter_and(&machine.atomic).collect();
        let (mut enabled, mut asked) = (Enabled::new(), Asked::new());
        for state in atomic {
            let transition = self.first_enabled(state, key, &mut asked);
            enabled.extend(transition.filter(|transition| !enabled.contains(transition)));
        }
        if enabled.len() > 1 { self.remove_conflicting_transitions(enabled) } else { enabled }
    }

    /// The first enabled transition of the state or, going outwards, of its ancestors.
    fn first_enabled(&mut self, state: StateId, key: Option<&EventKey>, asked: &mut Asked) -> Option<TransitionId> {
        let machine = self.machine;
        let mut at = Some(state);
        while let Some(state) = at {
            let node = &machine.nodes[state.index()];
            let candidates: &[TransitionId] = match key {
                None => &node.always,
                Some(EventKey::Known(event)) => {
                    node.on.iter().find(|(known, _)| known == event).map_or(&[], |(_, takers)| takers)
                }
                Some(EventKey::Other(_)) => &node.open,
            };
            for &transition in candidates {
                if self.takes(transition, key) && self.is_enabled_once(transition, asked) {
                    return Some(transition);
                }
            }
            at = machine.chart().state(state).parent;
        }
        None
    }

    /// For an event the machine does not know, descriptors are compared here; for known ones that was done beforehand.
    fn takes(&self, transition: TransitionId, key: Option<&EventKey>) -> bool {
        match key {
            Some(EventKey::Other(name)) => {
                self.machine.chart().transition(transition).events.iter().any(|event| event.matches(name))
            }
            _ => true,
        }
    }

    fn is_enabled_once(&mut self, transition: TransitionId, asked: &mut Asked) -> bool {
        if let Some((_, answer)) = asked.iter().find(|(known, _)| *known == transition) {
            return *answer;
        }
        let answer = self.is_enabled(transition);
        asked.push((transition, answer));
        answer
    }

    /// Limits first: a transition that is used up is not asked for its guard.
    fn is_enabled(&mut self, transition: TransitionId) -> bool {
        let plan = self.machine.plan(transition);
        for &(counter, max, input) in &plan.limits {
            let count = self.state.counters[counter.index()];
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
        let Some(guard) = plan.guard else { return true };
        match self.with_data(|data, scope| data.holds(guard, scope)) {
            Ok(true) => true,
            Ok(false) => {
                self.observer.refused(transition, Refusal::Guard);
                false
            }
            Err(fault) => self.refuse_faulty(transition, plan.source, *fault),
        }
    }

    fn refuse_faulty(&mut self, transition: TransitionId, source: StateId, fault: crate::Fault) -> bool {
        self.observer.refused(transition, Refusal::Fault);
        self.raise_fault(source, fault);
        false
    }

    /// Of two transitions that leave the same state, the one whose source is deeper goes first, then the one that comes first.
    fn remove_conflicting_transitions(&mut self, enabled: Enabled) -> Enabled {
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
