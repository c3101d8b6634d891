//! Validates a resolved chart as a whole, without changing it.
//!
//! This module reports everything that is visible without executing the machine: misplaced parts, transitions that can
//! never be chosen, events without a raiser and signals without a handler, limits without an alternative, expressions
//! of the wrong type. The checker reports everything that needs exploration.

mod chosen;
mod grants;
mod limits;
mod qualified;
mod raised;
mod shape;
mod structure;
mod timeouts;
mod types;

use super::{draft, resolve::Places};
use crate::{
    Chart, Diagnostic,
    model::{Descriptor, StateId, TransitionId},
};
use shape::Shape;
pub use types::SignalData;
pub(crate) use types::unknown_signal_fields;

/// Reports errors and suspicious parts of the chart.
pub(crate) fn validate(machine: &draft::Machine<'_>, chart: &Chart, places: &Places, problems: &mut Vec<Diagnostic>) {
    let shape = Shape::of(chart);
    structure::check(machine, chart, problems);
    shape::check_targets(&shape, places, problems);
    chosen::check(chart, problems);
    raised::check(&shape, places, problems);
    qualified::check(&shape, places, problems);
    limits::check(chart, problems);
    grants::check(chart, problems);
    timeouts::check(chart, problems);
    types::check(&shape, problems);
}

/// Returns all prefixes of the event's name that a descriptor may have: `a.b.c`, `a.b`, `a`, and the empty string for
/// `*`.
fn prefixes(event: &str) -> impl Iterator<Item = &str> {
    let dots = event.rmatch_indices('.').map(|(at, _)| &event[..at]);
    let name = (!event.is_empty()).then_some(event);
    name.into_iter().chain(dots).chain([""])
}

/// Returns the position of a transition's descriptor.
fn descriptor_span(chart: &Chart, places: &Places, id: TransitionId, position: usize) -> crate::Span {
    let spans = places.descriptors.get(id.index());
    spans.and_then(|spans| spans.get(position)).copied().unwrap_or(chart.transition(id).span)
}

/// Returns the lookup key of a descriptor: the text if it is qualified, the prefix if it is plain.
fn key(descriptor: &Descriptor) -> &str {
    if descriptor.origin.is_some() { &descriptor.text } else { descriptor.prefix() }
}

/// Returns the keys of descriptors, of the state itself or of its ancestors, that match everything that this one
/// matches. A qualified name of another region's event is matched only by itself.
fn covering<'a>(chart: &'a Chart, source: StateId, descriptor: &'a Descriptor) -> impl Iterator<Item = &'a str> {
    let own = descriptor.origin.map(|_| descriptor.text.as_str());
    let is_heard = descriptor.origin.is_none_or(|origin| chart.is_in_line(source, origin.state));
    let plain = is_heard.then(|| prefixes(chart.plain_name(descriptor))).into_iter().flatten();
    own.into_iter().chain(plain)
}
