//! Whether what `judges.toml` says is said about anything: a chain for a judgement that no machine asks for is never used, and nobody would notice.

use std::collections::BTreeSet;

use interlock_chart::library;
use interlock_judge::settings::Settings;

use super::{Finding, bad, good};
use crate::machine::here;

/// What the names of judgements begin with.
const JUDGE: &str = "judge.";

/// The names of chains and votes that no machine asks for: with one that is like it, a slip; otherwise perhaps for a machine that is elsewhere.
pub(super) fn unused(settings: &Settings) -> Vec<Finding> {
    let asked = asked();
    let said: BTreeSet<&String> = settings.chains.keys().chain(settings.votes.keys()).collect();
    let unused = said.into_iter().filter(|name| !asked.contains(*name));
    let finding = |name: &String| {
        let why = format!("judges.toml names {name}, which no machine that is found from here asks for");
        match near(name, &asked) {
            Some(near) => bad("judges", format!("{why}; did you mean `{near}`?")),
            None => good("judges", why),
        }
    };
    unused.map(finding).collect()
}

/// Everything that a chain can be for.
fn asked() -> BTreeSet<String> {
    let charts =
        library::list(&here()).into_iter().filter_map(|listed| library::load(&listed.name, &here()).ok()?.read().chart);
    let activities = charts.flat_map(|chart| chart.invokes.into_iter().map(|invoke| invoke.activity));
    let judged = activities.filter(|activity| activity.starts_with(JUDGE));
    judged.chain(["default", "judge"].map(str::to_owned)).collect()
}

/// The name that was meant. All begin alike, which says nothing.
fn near<'n>(name: &str, asked: &'n BTreeSet<String>) -> Option<&'n String> {
    let bare = |name: &'n str| name.strip_prefix(JUDGE).unwrap_or(name);
    let wrong = name.strip_prefix(JUDGE).unwrap_or(name);
    let near = interlock_suggest::closest(wrong, asked.iter().map(|name| bare(name)))?;
    asked.iter().find(|name| bare(name) == near)
}
