//! The progress of a property: a small number that every observation may change.

use interlock_chart::model::{Property, PropertyKind};

use crate::watch::{Bits, Roles};

/// The number of values of a property's monitor; it begins at 0.
pub(crate) fn values(property: &Property) -> u32 {
    match &property.kind {
        PropertyKind::Terminates | PropertyKind::Possible { .. } => 1,
        PropertyKind::Never { .. } | PropertyKind::LeadsTo { .. } => 2,
        PropertyKind::AtMost { count, .. } => count.saturating_add(1),
    }
}

/// Advances a monitor by one observation. Returns true if the observation breaks the property.
pub(crate) fn advance(property: &Property, roles: &Roles, monitor: &mut u32, seen: Bits) -> bool {
    match &property.kind {
        PropertyKind::Terminates | PropertyKind::Possible { .. } => false,
        PropertyKind::Never { without, .. } => {
            if seen & roles.without != 0 {
                *monitor = 1;
            }
            let is_broken = seen & roles.what != 0 && (without.is_none() || *monitor == 0);
            if seen & roles.since != 0 {
                *monitor = 0;
            }
            is_broken
        }
        PropertyKind::LeadsTo { .. } => {
            if seen & roles.what != 0 {
                *monitor = 1;
            }
            if seen & roles.without != 0 {
                *monitor = 0;
            }
            false
        }
        PropertyKind::AtMost { count, .. } => {
            let is_seen = seen & roles.what != 0;
            let is_broken = is_seen && *monitor == *count;
            *monitor = (*monitor + u32::from(is_seen)).min(*count);
            if seen & roles.since != 0 {
                *monitor = 0;
            }
            is_broken
        }
    }
}
