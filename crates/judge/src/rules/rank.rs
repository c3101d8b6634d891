//! Which of many findings is the cause: the nearest to it by rank, then the first in the log; and none at all where a runner says that all
//! is well.

use std::borrow::Cow;

use super::{find::Finding, table::Table};

/// The findings that count, the cause first.
pub(super) fn ranked(rules: &Table, lines: &[Cow<'_, str>], mut found: Vec<Finding>) -> Vec<Finding> {
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

/// From this rank on a finding is only the consequence of another.
const FOLLOW_UP: u32 = 50;

/// Whether the last word of the runners is that everything passed.
fn is_passed(rules: &Table, lines: &[Cow<'_, str>]) -> bool {
    lines.iter().any(|line| rules.pass.is_match(line.as_bytes()))
        && !lines.iter().any(|line| rules.fail.is_match(line.as_bytes()))
}
