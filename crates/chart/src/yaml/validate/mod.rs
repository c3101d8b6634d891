//! Does the whole make sense? Looks at a resolved chart; changes nothing.
//!
//! What can be seen without moving the machine is told here: parts that have no place where they stand, transitions that
//! can never be chosen, events without a raiser and signals without a handler, limits that lead nowhere, expressions of
//! the wrong type. What needs exploration is the checker's.

mod chosen;
mod limits;
mod raised;
mod shape;
mod structure;
mod types;

use super::{draft, resolve::Places};
use crate::{
    Chart, Diagnostic,
    model::{Descriptor, TransitionId},
};
use shape::Shape;

/// Complains about what the chart cannot mean, and about what is odd.
pub(crate) fn validate(machine: &draft::Machine<'_>, chart: &Chart, places: &Places, problems: &mut Vec<Diagnostic>) {
    let shape = Shape::of(chart);
    structure::check(machine, chart, problems);
    shape::check_targets(&shape, places, problems);
    chosen::check(chart, problems);
    raised::check(&shape, places, problems);
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

/// Whether everything that `narrow` takes is taken by `wide` too.
fn covers(wide: &Descriptor, narrow: &Descriptor) -> bool {
    prefixes(narrow.prefix()).any(|prefix| prefix == wide.prefix())
}
