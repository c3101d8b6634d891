//! Signals that need a qualified name: two activities that are active together finish with the same signal and one
//! transition handles both, or an event has the text of a qualified name.

use super::{
    super::{code, resolve::Places},
    descriptor_span,
    shape::Shape,
};
use crate::{
    Diagnostic,
    model::{Chart, EventId, Invoke, Origin, OriginEvent, StateId, Transition},
};
use std::collections::BTreeMap;

/// The maximum number of activities with the same signal that are compared for one transition.
const COMPARED_MAX: usize = 64;

/// Reports signals that could come from several activities.
pub(super) fn check(shape: &Shape<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    let signalled = signalled(shape.chart);
    shared(shape, &signalled, places, problems);
    ambiguous(shape.chart, &signalled, problems);
}

/// Returns the activities that can finish with each signal.
fn signalled(chart: &Chart) -> BTreeMap<EventId, Vec<&Invoke>> {
    let mut by_event: BTreeMap<EventId, Vec<&Invoke>> = BTreeMap::new();
    for invoke in &chart.invokes {
        invoke.signals.iter().for_each(|signal| by_event.entry(signal.event).or_default().push(invoke));
    }
    by_event
}

fn shared(
    shape: &Shape<'_>,
    signalled: &BTreeMap<EventId, Vec<&Invoke>>,
    places: &Places,
    problems: &mut Vec<Diagnostic>,
) {
    for (event, invokes) in signalled.iter().filter(|(_, invokes)| invokes.len() > 1) {
        let name = &shape.chart.event(*event).name;
        for transition in &shape.chart.transitions {
            let is_plain = |at: &usize| {
                let descriptor = &transition.events[*at];
                descriptor.origin.is_none() && !descriptor.prefix().is_empty() && descriptor.matches(name)
            };
            let Some(at) = (0..transition.events.len()).find(is_plain) else { continue };
            if let Some((one, other)) = arriving(shape, transition, *event, invokes) {
                let span = descriptor_span(shape.chart, places, transition.id, at);
                let problem = Diagnostic::error(code::SHARED_SIGNAL, span, told(shape.chart, name, one, other));
                problems.push(problem.hint(hint(shape.chart, name, one, other)));
            }
        }
    }
}

/// Returns two activities that can be active together and whose signal the transition handles.
fn arriving<'c>(
    shape: &Shape<'c>,
    transition: &Transition,
    event: EventId,
    invokes: &[&'c Invoke],
) -> Option<(&'c Invoke, &'c Invoke)> {
    let source = transition.source;
    let reaches = |invoke: &&&Invoke| {
        shape.contains(source, invoke.state) && !is_handled_below(shape.chart, invoke.state, source, event)
    };
    let arriving: Vec<&Invoke> = invokes.iter().filter(reaches).copied().take(COMPARED_MAX).collect();
    let pairs =
        arriving.iter().enumerate().flat_map(|(at, one)| arriving[at + 1..].iter().map(move |two| (*one, *two)));
    pairs.into_iter().find(|(one, two)| shape.together(one.state, two.state))
}

/// Returns true if a transition between the two states certainly handles the signal before the outer state is
/// considered.
fn is_handled_below(chart: &Chart, inner: StateId, outer: StateId, event: EventId) -> bool {
    let own = Origin { state: inner, event: OriginEvent::Signal(event) };
    let takes = |transition: &Transition| {
        let name = &chart.event(event).name;
        let is_meant =
            |descriptor: &crate::model::Descriptor| descriptor.origin == Some(own) || descriptor.matches(name);
        transition.guard.is_none() && transition.limits.is_empty() && transition.events.iter().any(is_meant)
    };
    let mut between = std::iter::once(inner).chain(chart.ancestors(inner)).take_while(|state| *state != outer);
    between.any(|state| chart.state(state).transitions.iter().any(|id| takes(chart.transition(*id))))
}

fn told(chart: &Chart, name: &str, one: &Invoke, other: &Invoke) -> String {
    let of = |invoke: &Invoke| format!("`{}` of `{}`", invoke.activity, chart.state(invoke.state).name);
    format!("`{name}` comes from {} and from {}, which can run at the same time", of(one), of(other))
}

fn hint(chart: &Chart, name: &str, one: &Invoke, other: &Invoke) -> String {
    let of = |invoke: &Invoke| format!("`{}.{name}`", chart.state(invoke.state).name);
    match one.state == other.state {
        true => "invoke them in separate states, so that each signal has its own qualified name".to_owned(),
        false => format!("write {} or {}, or both separated by a space", of(one), of(other)),
    }
}

/// Reports an event with the name of a state's signal, which would make the qualified name ambiguous.
fn ambiguous(chart: &Chart, signalled: &BTreeMap<EventId, Vec<&Invoke>>, problems: &mut Vec<Diagnostic>) {
    for event in chart.events.iter().filter(|event| event.name.contains('.')) {
        let splits = event.name.match_indices('.').map(|(at, _)| (&event.name[..at], &event.name[at + 1..]));
        let mut invokes = splits.filter_map(|(state, signal)| {
            let invokes = signalled.get(&chart.find_event(signal)?)?;
            invokes.iter().find(|invoke| chart.state(invoke.state).name == state)
        });
        if let Some(invoke) = invokes.next() {
            let message =
                format!("`{}` is a declared event and also the qualified signal of `{}`", event.name, invoke.activity);
            let problem = Diagnostic::error(code::AMBIGUOUS_NAME, event.span, message);
            problems.push(problem.hint("give the event another name").related(invoke.span, "the activity is here"));
        }
    }
}
