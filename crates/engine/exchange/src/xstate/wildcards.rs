//! The order of a state's handlers whose descriptors overlap.
//!
//! XState tries the handlers of the exact name, and only if a state has none, those of wildcards, the longest first. A
//! machine file tries all matching handlers in the order of the file, and a plain name also matches names below it. So
//! wildcards are moved behind names. If that does not suffice, a warning is reported.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value as Json;

use super::import::Importer;

/// The deepest configuration that is searched for names of events.
const DEPTH_MAX: usize = 256;

/// Returns the sort key of a handler among those of its state. Names keep their order unless one lies below another.
pub(super) fn rank(descriptor: &str, all: &BTreeSet<&str>) -> (bool, Reverse<usize>) {
    let is_wildcard = descriptor.ends_with('*');
    let overlaps = all.iter().any(|other| lies_below(other, descriptor) || lies_below(descriptor, other));
    (is_wildcard, Reverse(if is_wildcard || overlaps { descriptor.len() } else { usize::MAX }))
}

fn lies_below(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.') && rest != ".*")
}

/// Returns the names of all events that a configuration handles, without wildcards.
pub(super) fn names(json: &Json) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut open = vec![(json, 0)];
    while let Some((state, depth)) = open.pop() {
        let keys = state.get("on").and_then(Json::as_object).into_iter().flat_map(|on| on.keys());
        names.extend(keys.map(String::as_str).filter(|key| !key.ends_with('*')));
        let children = state.get("states").and_then(Json::as_object).filter(|_| depth < DEPTH_MAX);
        open.extend(children.into_iter().flat_map(|states| states.values()).map(|child| (child, depth + 1)));
    }
    names
}

impl Importer<'_> {
    /// Warns about handlers that XState would try in another order.
    pub(super) fn warn_of_overlaps(&mut self, on: &serde_json::Map<String, Json>) {
        if self.native {
            return;
        }
        let mut warnings: BTreeMap<&str, String> = BTreeMap::new();
        for (key, value) in on.iter().filter(|(key, _)| !key.ends_with('*') && !key.is_empty()) {
            let fits = |other: &&String| {
                other.strip_suffix('*').is_some_and(|prefix| {
                    key.starts_with(prefix) || prefix.strip_suffix('.').is_some_and(|prefix| prefix == key)
                })
            };
            let wildcard = on.keys().find(fits);
            if let Some(wildcard) = wildcard.filter(|_| is_guarded(value)) {
                warnings.insert(
                    key,
                    format!("where no guard of `{key}` holds, `{wildcard}` is asked too; XState would not ask it"),
                );
            } else if let Some(below) =
                self.event_names.iter().find(|name| lies_below(name, key) && !on.contains_key(**name))
            {
                warnings.insert(key, format!("`{key}` takes `{below}` too; XState takes the exact name only"));
            }
        }
        for (key, warning) in warnings {
            self.at(key, |importer| importer.warn(&warning));
        }
    }
}

/// Returns true if every handler has a guard, so that possibly none is taken.
fn is_guarded(value: &Json) -> bool {
    let has_guard = |one: &Json| ["guard", "cond", "in"].iter().any(|name| one.get(name).is_some());
    match value {
        Json::Array(items) => items.iter().all(has_guard),
        one => has_guard(one),
    }
}
