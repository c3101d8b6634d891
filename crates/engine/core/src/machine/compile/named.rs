//! Qualified names: for every event of a state that is named by its qualified name, computes the transitions that take
//! it.

use std::collections::BTreeSet;

use interlock_chart::model::{Descriptor, OriginEvent};

use super::*;

/// Fills in [`Node::named`] and [`Machine::listeners`].
pub(super) fn fill(machine: &mut Machine) {
    let chart = machine.chart.clone();
    for state in &chart.states {
        let named = named(machine, state);
        machine.nodes[state.id.index()].named = named;
    }
    machine.listeners = states_where(&chart, |state| {
        let mut around = std::iter::once(state.id).chain(chart.ancestors(state.id));
        state.kind.is_atomic() && around.any(|id| !machine.nodes[id.index()].named.is_empty())
    });
}

fn named(machine: &Machine, state: &interlock_chart::model::State) -> Vec<Named> {
    let transitions = || state.transitions.iter().map(|&id| machine.chart.transition(id));
    let qualified = transitions().flat_map(|transition| &transition.events).filter(|event| event.origin.is_some());
    let events: BTreeSet<(StateId, EventId)> = qualified.flat_map(|event| events(machine, event)).collect();
    let takers = |(origin, event): (StateId, EventId), is_inside: bool| {
        let takes = |descriptor: &Descriptor| takes(machine, descriptor, origin, event, is_inside);
        transitions().filter(|one| one.events.iter().any(takes)).map(|one| one.id).collect()
    };
    let one = |key: (StateId, EventId)| Named {
        origin: key.0,
        event: key.1,
        inside: takers(key, true),
        outside: takers(key, false),
    };
    events.into_iter().map(one).collect()
}

/// The events, with their states, for which a qualified name makes a difference: the event that it denotes and, for a
/// timeout, the events whose names begin with its text.
fn events(machine: &Machine, descriptor: &Descriptor) -> Vec<(StateId, EventId)> {
    let Some(origin) = descriptor.origin else { return Vec::new() };
    let state = origin.state;
    match origin.event {
        OriginEvent::Signal(event) => vec![(state, event)],
        OriginEvent::Error => vec![(state, machine.error), (state, machine.error_execution)],
        OriginEvent::Fault => vec![(state, machine.error_execution)],
        OriginEvent::Timeout => (machine.chart.states.iter())
            .map(|timed| (timed.id, machine.timeout_event(timed.id)))
            .filter(|(_, event)| descriptor.matches(machine.event_name(*event)))
            .collect(),
    }
}

fn takes(machine: &Machine, descriptor: &Descriptor, state: StateId, event: EventId, is_inside: bool) -> bool {
    let Some(origin) = descriptor.origin else {
        return is_inside && descriptor.matches(machine.event_name(event));
    };
    let is_meant = match origin.event {
        OriginEvent::Signal(signal) => event == signal,
        OriginEvent::Error => event == machine.error || event == machine.error_execution,
        OriginEvent::Fault => event == machine.error_execution,
        OriginEvent::Timeout => event == machine.timeout_event(state),
    };
    origin.state == state && is_meant
}
