//! Configurations compared as sets, under the names that the document uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::simulation::Simulation;

/// Where a run is, in the document's own names (`renamed` is ours to theirs).
pub(crate) fn places(run: &Simulation<'_>, renamed: &BTreeMap<String, String>) -> BTreeSet<String> {
    let theirs = |name: &str| renamed.get(name).cloned().unwrap_or_else(|| name.to_owned());
    run.places().into_iter().map(theirs).collect()
}

/// Says what is wrong, if the two are not the same.
pub(crate) fn same(when: &str, expected: &[String], found: &BTreeSet<String>) -> Result<(), String> {
    let expected: BTreeSet<String> = expected.iter().cloned().collect();
    if expected == *found {
        return Ok(());
    }
    Err(format!("{when}: expected {}, got {}", listed(&expected), listed(found)))
}

/// `{a, b}`
pub(crate) fn listed(names: &BTreeSet<String>) -> String {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    format!("{{{}}}", names.join(", "))
}
