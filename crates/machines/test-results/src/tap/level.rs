//! One level of TAP: its plan and its results, each with the subtests that came before it.

use super::{CaseResult, ParserState, Status, form, locate};
use crate::form::NAMELESS;

/// The results of one indentation.
#[derive(Default)]
pub(super) struct Level {
    pub(super) indent: usize,
    /// The announced owner of the subtests, before its result appears.
    pub(super) name: String,
    pub(super) plan: Option<usize>,
    /// The number of results that preceded the plan.
    pub(super) planned_after: usize,
    /// The reason of a plan without cases.
    pub(super) skipped: String,
    pub(super) points: Vec<Point>,
    /// Subtests whose final result is missing.
    pub(super) orphans: Vec<Level>,
    /// The comments since the last result.
    pub(super) said: String,
}

/// One result line, with its subtests.
pub(super) struct Point {
    pub(super) case: CaseResult,
    /// The comments between the previous result and this one.
    pub(super) said_before: String,
    number: Option<usize>,
    has_number: bool,
    pub(super) inner: Option<Level>,
}

impl Point {
    /// Parses a result from the text after its number.
    pub(super) fn new(is_ok: bool, number: Option<usize>, rest: &str) -> Point {
        let (name, directive) = split(rest);
        // A directive is a whole word: `# skipped frames: 12` is a remark.
        let end = directive.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(directive.len());
        let (word, why) = directive.split_at(end);
        let why = why.trim_start_matches(':');
        let status = match word.to_ascii_uppercase().as_str() {
            "SKIP" => Status::Skipped,
            "TODO" | "XFAIL" if !is_ok => Status::Skipped,
            "TIMEOUT" if !is_ok => Status::Timeout,
            _ if is_ok => Status::Passed,
            _ => Status::Failed,
        };
        let mut case = CaseResult::new(name.replace("\\#", "#").replace("\\\\", "\\").trim(), status);
        if status == Status::Skipped {
            case.message = why.trim().to_owned();
        }
        case.duration_ms = form!(r"^(?:time=|duration_ms )?(\d+)(?:\.\d+)?(?:ms)?$")
            .and_then(|form| form.captures(directive))
            .and_then(|found| found[1].parse().ok());
        Point { case, said_before: String::new(), number, has_number: number.is_some(), inner: None }
    }

    /// Attaches the subtests of the result.
    pub(super) fn hold(&mut self, inner: Option<Level>) {
        self.inner = inner.filter(|inner| !inner.is_empty());
    }
}

/// Returns the description and the text after an unescaped `#`.
fn split(rest: &str) -> (&str, &str) {
    let bytes = rest.as_bytes();
    let is_mark = |at: &usize| {
        (*at == 0 || bytes[at - 1] == b' ') && bytes.get(at + 1).is_none_or(|c| *c == b' ' || c.is_ascii_alphabetic())
    };
    let mark = rest.match_indices('#').map(|(at, _)| at).find(is_mark);
    match mark {
        Some(at) => (rest[..at].trim(), rest[at + 1..].trim()),
        None => (rest.trim(), ""),
    }
}

impl Level {
    /// Reports whether the level has neither a plan nor results.
    pub(super) fn is_empty(&self) -> bool {
        self.plan.is_none() && self.points.is_empty() && self.orphans.is_empty()
    }

    /// Drops results without a number: if other results have numbers, such lines are ordinary output.
    pub(super) fn forget_unnumbered(&mut self) {
        self.points.retain(|point| point.has_number || point.inner.is_some());
    }

    /// Adds a result with the subtests before it. Returns a doubt about its number, if any.
    pub(super) fn add(&mut self, mut point: Point, inner: Option<Level>) -> Option<String> {
        let expected = self.points.len() + 1;
        let number = *point.number.get_or_insert(expected);
        if point.case.case_id.is_empty() {
            point.case.case_id = format!("test {number}");
        }
        point.said_before = std::mem::take(&mut self.said);
        point.hold(inner);
        let is_seen = || self.points.iter().any(|other| other.number == Some(number));
        let name = &point.case.case_id;
        let doubt = match number == expected {
            true => None,
            false if is_seen() => Some(format!("two results have the number {number} ({name})")),
            false => Some(format!("a result has the number {number} where {expected} comes next ({name})")),
        };
        self.points.push(point);
        doubt
    }

    /// Reports everything below this level as cases.
    pub(super) fn tell(self, reading: &mut ParserState, above: &str, is_outermost: bool) {
        let name = |own: &str| if above.is_empty() { own.to_owned() } else { format!("{above}.{own}") };
        let place = if above.is_empty() { String::new() } else { format!(" of {above}") };
        if self.plan.is_some() && (1..self.points.len()).contains(&self.planned_after) {
            reading.doubt(format!("the plan{place} stands between results"));
        }
        let numbers: Vec<usize> = self.points.iter().filter_map(|point| point.number).collect();
        for point in self.points {
            tell(point, reading, &name);
        }
        for level in self.orphans {
            let own = level.name.clone();
            reading.doubt(format!(
                "the subtests of {} have no result of their own",
                if own.is_empty() { "?" } else { &own }
            ));
            level.tell(reading, &name(&own), false);
        }
        match self.plan {
            Some(plan) => missing(reading, plan, &numbers, &place, &name),
            None => reading.doubt(format!("there is no plan{place} (1..N)")),
        }
        if is_outermost && !self.skipped.is_empty() {
            reading.notes.push(format!("all was skipped: {}", self.skipped));
        }
    }
}

fn tell(point: Point, reading: &mut ParserState, name: &dyn Fn(&str) -> String) {
    let Point { mut case, inner, .. } = point;
    let own = case.case_id.clone();
    let Some(inner) = inner else {
        locate(&mut case);
        let found = reading.end(0, "", &name(&own), case.status);
        let case_id = std::mem::take(&mut found.case_id);
        *found = CaseResult { case_id, ..case };
        return;
    };
    let before = reading.found.len();
    inner.tell(reading, &name(&own), false);
    // If no subtest explains the failure, the result itself is reported as failed.
    let is_told = reading.found[before..].iter().any(|found| found.case.status.is_bad());
    if case.status.is_bad() && !is_told {
        reading.end(0, "", &name(&own), case.status).message = case.message;
    } else if !case.status.is_bad() && is_told {
        reading.doubt(format!("{} is ok, and one of its subtests is not", name(&own)));
    }
}

/// Reports the numbers of the plan that have no result.
fn missing(reading: &mut ParserState, plan: usize, numbers: &[usize], place: &str, name: &dyn Fn(&str) -> String) {
    /// The largest number of cases that are created from a plan alone.
    const MISSING_MAX: usize = 1000;
    let absent: Vec<usize> = (1..=plan.min(MISSING_MAX)).filter(|number| !numbers.contains(number)).collect();
    for number in &absent {
        reading.end(0, "", &name(&format!("test {number}")), Status::Missing).message = NAMELESS.to_owned();
    }
    if plan != numbers.len() {
        reading.doubt(format!("cases{place} announced: {plan}, reported: {}", numbers.len()));
    }
    if numbers.iter().any(|number| *number > plan) {
        reading.doubt(format!("a result{place} has a number beyond the plan"));
    }
}
