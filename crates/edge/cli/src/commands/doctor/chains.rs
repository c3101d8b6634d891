//! Finds unused entries of `judges.toml`: a chain for a judgement that no machine asks for is never used, which would
//! otherwise go unnoticed.

use std::collections::BTreeSet;

use interlock_chart::library;
use interlock_judge::settings::Settings;

use super::{Finding, bad, good};
use crate::machine::here;

/// The prefix of the names of judgements.
const JUDGE: &str = "judge.";

/// Reports the chains and votes that no machine asks for. If a similar name exists, the entry is probably a typing
/// error; otherwise it may be meant for a machine in another directory.
pub(super) fn unused(settings: &Settings) -> Vec<Finding> {
    let asked = asked();
    let said: BTreeSet<&String> = settings.chains.keys().chain(settings.votes.keys()).collect();
    let unused = said.into_iter().filter(|name| !asked.contains(*name));
    let finding = |name: &String| {
        let why = format!("judges.toml names {name}, which no available machine uses");
        match near(name, &asked) {
            Some(near) => bad("judges", format!("{why}; did you mean `{near}`?")),
            None => good("judges", why),
        }
    };
    unused.map(finding).collect()
}

/// Returns every name that a chain can be configured for.
fn asked() -> BTreeSet<String> {
    let charts =
        library::list(&here()).into_iter().filter_map(|listed| library::load(&listed.name, &here()).ok()?.read().chart);
    let activities = charts.flat_map(|chart| chart.invokes.into_iter().map(|invoke| invoke.activity));
    let judged = activities.filter(|activity| activity.starts_with(JUDGE));
    judged.chain(["default", "judge"].map(str::to_owned)).collect()
}

/// Returns the most similar name. The common prefix is ignored, because it would make all names similar.
fn near<'n>(name: &str, asked: &'n BTreeSet<String>) -> Option<&'n String> {
    let bare = |name: &'n str| name.strip_prefix(JUDGE).unwrap_or(name);
    let wrong = name.strip_prefix(JUDGE).unwrap_or(name);
    let near = interlock_suggest::closest(wrong, asked.iter().map(|name| bare(name)))?;
    asked.iter().find(|name| bare(name) == near)
}
