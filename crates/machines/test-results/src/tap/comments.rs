//! Comments of TAP: assigns each to a result, and reads the totals that some of them hold.
//!
//! Both conventions exist. Test::More and bats print a comment below the result that it explains, KUnit and the
//! kselftest harness above it. A text comes from one program, so one convention applies to all of it: each comment
//! between two results votes, by the name that it mentions and by which of its neighbours failed. Without a majority,
//! TAP uses below and KTAP above.

use super::{form, level::Level};

/// The position of a comment relative to the result that it explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convention {
    /// The comment stands before its result.
    Above,
    /// The comment stands after its result.
    Below,
}

/// A comment that counts results.
pub(super) struct Total {
    /// True if it counts a failure.
    pub(super) is_failed: bool,
    /// The number of results on its level, if it gives one.
    pub(super) count: Option<usize>,
}

/// The shortest name whose mention means anything.
const NAME_CHARS_MIN: usize = 3;

/// Reads a comment that holds totals: those of kselftest, KUnit, Node and Test::More.
pub(super) fn total(words: &str) -> Option<Total> {
    let form = form!(r"^#+ *(?:# *)*(?P<of>[\w.-]+): pass:(?P<pass>\d+) fail:(?P<fail>\d+)(?P<rest>(?: \w+:\d+)*)$");
    if let Some(found) = form.and_then(|form| form.captures(words)) {
        let number = |text: &str| text.parse::<usize>().unwrap_or(usize::MAX);
        let rest = || found["rest"].split_whitespace().filter_map(|part| part.split_once(':'));
        let errors = rest().filter(|(name, _)| *name == "error").map(|(_, count)| number(count));
        let others = rest().filter(|(name, _)| *name != "total").map(|(_, count)| number(count));
        let all = others.fold(number(&found["pass"]).saturating_add(number(&found["fail"])), usize::saturating_add);
        return Some(Total {
            is_failed: number(&found["fail"]) > 0 || errors.sum::<usize>() > 0,
            // KUnit counts the cases of all levels and marks that with `total`.
            count: (&found["of"] == "Totals" && !found["rest"].contains(" total:")).then_some(all),
        });
    }
    let counted = form!(r"^# (?P<of>tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) +(?P<count>[\d.]+)$");
    if let Some(found) = counted.and_then(|form| form.captures(words)) {
        let is_failed = matches!(&found["of"], "fail" | "cancelled") && !found["count"].trim_matches('0').is_empty();
        return Some(Total { is_failed, count: None });
    }
    let is_said = form!(
        r"^# (?:Looks like (?:you |your test )|No tests run!|Tests were run but no plan|Child \(.*\) exited|failed \d+ |test count\()"
    );
    is_said?.is_match(words).then_some(Total { is_failed: true, count: None })
}

/// Gives every failed result the comments that belong to it.
pub(super) fn give_out(level: &mut Level, usual: Convention) {
    let (mut above, mut below) = (0, 0);
    vote(level, &mut above, &mut below);
    let convention = match above.cmp(&below) {
        std::cmp::Ordering::Less => Convention::Below,
        std::cmp::Ordering::Equal => usual,
        std::cmp::Ordering::Greater => Convention::Above,
    };
    assign(level, convention);
}

fn vote(level: &Level, above: &mut usize, below: &mut usize) {
    for index in 0..=level.points.len() {
        let text = said_before(level, index);
        let (before, after) = (index.checked_sub(1).and_then(|at| level.points.get(at)), level.points.get(index));
        let names = |point: &super::Point| {
            point.case.case_id.chars().count() >= NAME_CHARS_MIN && text.contains(&point.case.case_id)
        };
        let is_bad = |point: &super::Point| point.case.status.is_bad();
        if text.is_empty() {
            continue;
        }
        // A mentioned name weighs more than a failed neighbour.
        match (before.is_some_and(names), after.is_some_and(names)) {
            (true, false) => *below += 2,
            (false, true) => *above += 2,
            _ => {}
        }
        match (before.is_some_and(is_bad), after.is_some_and(is_bad)) {
            (true, false) => *below += 1,
            (false, true) => *above += 1,
            _ => {}
        }
    }
    inner(level).for_each(|level| vote(level, above, below));
}

fn inner(level: &Level) -> impl Iterator<Item = &Level> {
    level.points.iter().filter_map(|point| point.inner.as_ref()).chain(&level.orphans)
}

/// Returns the comments before the result of this index; after the last result if there is no such result.
fn said_before(level: &Level, index: usize) -> &str {
    level.points.get(index).map_or(level.said.as_str(), |point| point.said_before.as_str())
}

fn assign(level: &mut Level, convention: Convention) {
    let is_bad = |index: usize| level.points.get(index).is_some_and(|point| point.case.status.is_bad());
    let message = |index: usize| {
        let (above, below) = (said_before(level, index), said_before(level, index + 1));
        let is_bad_before = index.checked_sub(1).is_some_and(is_bad);
        // A comment on the other side belongs to this result only if the other neighbour did not fail.
        let (own, other, is_claimed) = match convention {
            Convention::Above => (above, below, is_bad(index + 1)),
            Convention::Below => (below, above, is_bad_before),
        };
        let outer = if own.is_empty() && !is_claimed { other } else { own };
        let inner =
            level.points.get(index).and_then(|point| point.inner.as_ref()).map_or("", |inner| inner.said.as_str());
        if outer.is_empty() { inner.to_owned() } else { outer.to_owned() }
    };
    let messages: Vec<String> =
        (0..level.points.len()).map(|index| if is_bad(index) { message(index) } else { String::new() }).collect();
    for (point, message) in level.points.iter_mut().zip(messages) {
        if point.case.message.is_empty() {
            point.case.message = message;
        }
        point.inner.iter_mut().for_each(|level| assign(level, convention));
    }
    level.orphans.iter_mut().for_each(|level| assign(level, convention));
}
