//! Converts properties back to the notation of a machine file.

use crate::{
    file::{OneOrMany, PropertyFile},
    model::{Chart, Observation, Property, PropertyKind},
};

pub(super) fn file(chart: &Chart, property: &Property) -> PropertyFile {
    let see = |what: &Observation| match &what.0[..] {
        [one] => OneOrMany::One(chart.observed(one)),
        several => OneOrMany::Many(several.iter().map(|seen| chart.observed(seen)).collect()),
    };
    let because = (!property.because.is_empty()).then(|| property.because.clone());
    let mut file = PropertyFile { because, ..PropertyFile::default() };
    match &property.kind {
        PropertyKind::Terminates => file.terminates = Some(true),
        PropertyKind::Never { what, without, since } => {
            file.never = Some(see(what));
            file.without = without.as_ref().map(see);
            file.since = since.as_ref().map(see);
        }
        PropertyKind::Possible { what } => file.possible = Some(see(what)),
        PropertyKind::LeadsTo { after, to } => {
            file.after = Some(see(after));
            file.leads_to = Some(see(to));
        }
        PropertyKind::AtMost { count, of, since } => {
            file.at_most = Some(*count);
            file.of = Some(see(of));
            file.since = since.as_ref().map(see);
        }
    }
    file
}
