//! Does the whole make sense? Looks at a resolved chart; changes nothing.
//!
//! What can be seen without moving the machine is told here: parts that have no place where they stand, transitions that
//! can never be chosen, events without a raiser and signals without a handler, limits that lead nowhere, expressions of
//! the wrong type. What needs exploration is the checker's.

mod chosen;
mod limits;
mod qualified;
mod raised;
mod shape;
mod structure;
mod types;

use super::{draft, resolve::Places};
use crate::{
    Chart, Diagnostic,
    model::{Descriptor, StateId, TransitionId},
};
use shape::Shape;

/// Complains about what the chart cannot mean, and about what is odd.
pub(crate) fn validate(machine: &draft::Machine<'_>, chart: &Chart, places: &Places, problems: &mut Vec<Diagnostic>) {
    let shape = Shape::of(chart);
    structure::check(machine, chart, problems);
    shape::check_targets(&shape, places, problems);
    chosen::check(chart, problems);
    raised::check(&shape, places, problems);
    qualified::check(&shape, places, problems);
    limits::check(chart, problems);
    types::check(&shape, problems);
}

/// The event's name and everything above it that a descriptor may say: `a.b.c`, `a.b`, `a`, and nothing for `*`.
fn prefixes(event: &str) -> impl Iterator<Item = &str> {
    let dots = event.rmatch_indices('.').map(|(at, _)| &event[..at]);
    let name = (!event.is_empty()).then_some(event);
    name.into_iter().chain(dots).chain([""])
}

/// Where a transition's descriptor stands.
fn descriptor_span(chart: &Chart, places: &Places, id: TransitionId, position: usize) -> crate::Span {
    let spans = places.descriptors.get(id.index());
    spans.and_then(|spans| spans.get(position)).copied().unwrap_or(chart.transition(id).span)
}

/// Under what a descriptor is entered: its text if it is qualified, what it covers if it is plain.
fn key(descriptor: &Descriptor) -> &str {
    if descriptor.origin.is_some() { &descriptor.text } else { descriptor.prefix() }
}

/// The keys of descriptors, of the state itself or of states around it, that take whatever this one takes. A qualified name of another
/// region's event is taken by nothing but itself.
fn covering<'a>(chart: &'a Chart, source: StateId, descriptor: &'a Descriptor) -> impl Iterator<Item = &'a str> {
    let own = descriptor.origin.map(|_| descriptor.text.as_str());
    let is_heard = descriptor.origin.is_none_or(|origin| chart.is_in_line(source, origin.state));
    let plain = is_heard.then(|| prefixes(chart.plain_name(descriptor))).into_iter().flatten();
    own.into_iter().chain(plain)
}
