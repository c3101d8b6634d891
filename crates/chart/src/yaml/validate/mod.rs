//! Does the whole make sense? Looks at a resolved chart; changes nothing.

use super::{draft, resolve::Places};
use crate::{Chart, Diagnostic};

/// Complains about what the chart cannot mean, and about what is odd.
pub(crate) fn validate(
    _machine: &draft::Machine<'_>,
    _chart: &Chart,
    _places: &Places,
    _problems: &mut Vec<Diagnostic>,
) {
}
