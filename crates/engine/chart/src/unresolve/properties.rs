//! Converts properties back to the notation of a machine file.

use crate::{
    Chart,
    file::{OneOrMany, PropertyFile},
    model::{Observation, Property, PropertyKind},
    unresolve::layout::one_or_many,
};

/// Returns a property as a machine file writes it.
pub(super) fn property(chart: &Chart, property: &Property) -> PropertyFile {
    let seen = |observation: &Observation| observed(chart, observation);
    let because = (!property.because.is_empty()).then(|| property.because.clone());
    let file = PropertyFile { because, ..PropertyFile::default() };
    match &property.kind {
        PropertyKind::Terminates => PropertyFile { terminates: Some(true), ..file },
        PropertyKind::Never { what, without, since } => PropertyFile {
            never: seen(what),
            without: without.as_ref().and_then(seen),
            since: since.as_ref().and_then(seen),
            ..file
        },
        PropertyKind::Possible { what } => PropertyFile { possible: seen(what), ..file },
        PropertyKind::LeadsTo { after, to } => PropertyFile { after: seen(after), leads_to: seen(to), ..file },
        PropertyKind::AtMost { count, of, since } => {
            let since = since.as_ref().and_then(seen);
            PropertyFile { at_most: Some(*count), of: seen(of), since, ..file }
        }
    }
}

fn observed(chart: &Chart, observation: &Observation) -> Option<OneOrMany<String>> {
    one_or_many(observation.0.iter().map(|seen| chart.observed(seen)).collect())
}
