//! Compares configurations as sets, under the names that the document uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::simulation::Simulation;

/// The active atomic states of a run under the document's names (`renamed` maps our names to the document's).
pub(crate) fn places(run: &Simulation<'_>, renamed: &BTreeMap<String, String>) -> BTreeSet<String> {
    let theirs = |name: &str| renamed.get(name).cloned().unwrap_or_else(|| name.to_owned());
    run.places().into_iter().map(theirs).collect()
}

/// Returns a message with the difference if the two are not the same.
pub(crate) fn same(when: &str, expected: &[String], found: &BTreeSet<String>) -> Result<(), String> {
    let expected: BTreeSet<String> = expected.iter().cloned().collect();
    if expected == *found {
        return Ok(());
    }
    Err(format!("{when}: expected {}, got {}", listed(&expected), listed(found)))
}

/// Formats a set as `{a, b}`.
pub(crate) fn listed(names: &BTreeSet<String>) -> String {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    format!("{{{}}}", names.join(", "))
}
