//! Ranks findings: the nearest to the cause by rank comes first, then the first in the log. If a test runner reports
//! success, findings are dropped, except classes that survive a pass.

use std::borrow::Cow;

use crate::{find::Finding, table::Table};

/// Returns the relevant findings, the cause first.
pub(crate) fn ranked(rules: &Table, lines: &[Cow<'_, str>], mut found: Vec<Finding>) -> Vec<Finding> {
    if is_passed(rules, lines) {
        found.retain(|finding| {
            rules.class(&finding.class).is_some_and(|class| class.survives_pass) && finding.rank < FOLLOW_UP
        });
    }
    found.sort_by_key(|finding| (finding.rank, finding.at));
    let mut kept: Vec<Finding> = Vec::new();
    for finding in found {
        let is_there = kept.iter().any(|other| other.class == finding.class && other.cause == finding.cause);
        if !is_there {
            kept.push(finding);
        }
    }
    kept
}

/// The rank from which on a finding is only the consequence of another.
const FOLLOW_UP: u32 = 50;

/// Reports if the runners state that all tests passed and none states a failure.
fn is_passed(rules: &Table, lines: &[Cow<'_, str>]) -> bool {
    lines.iter().any(|line| rules.pass.is_match(line.as_bytes()))
        && !lines.iter().any(|line| rules.fail.is_match(line.as_bytes()))
}
