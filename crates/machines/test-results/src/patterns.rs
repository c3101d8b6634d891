//! Free text, parsed with the user's regular expressions and their named groups.

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, ms_of_seconds, place},
};

/// The patterns as a profile contains them. Each line is compared with them in the order of these fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternTexts {
    /// Announces the number of cases: group `total`.
    pub plan: String,
    /// Marks the begin of a case: group `case`.
    pub start: String,
    /// Marks the end of a case with its status as a word: groups `case` and `status`.
    pub result: String,
    /// Marks a passed case: group `case`.
    pub pass: String,
    /// Marks a failed case: group `case`.
    pub fail: String,
    /// Marks a skipped case: group `case`.
    pub skip: String,
    /// Marks the summary: groups `total`, `passed`, `failed`, all optional. If this pattern is set, a text without a
    /// match is doubted.
    pub summary: String,
    /// Marks lines in which no fault is searched.
    pub ignore: String,
    /// The case that lines without a group `case` are about, for a program that prints only how it is.
    pub case: String,
}

/// The compiled form of [`PatternTexts`].
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    plan: Option<Regex>,
    start: Option<Regex>,
    /// The result patterns with their status, or `None` if a word in the line gives the status.
    results: Vec<(Option<Status>, Regex)>,
    summary: Option<Regex>,
    ignore: Option<Regex>,
    /// The name of the case whose lines do not name it.
    case: String,
}

impl Patterns {
    /// Compiles the patterns.
    ///
    /// # Errors
    ///
    /// Returns the problems of all patterns as sentences.
    pub fn new(texts: &PatternTexts) -> Result<Patterns, Vec<String>> {
        let mut problems = Vec::new();
        let mut compile = |name: &str, text: &str, groups: &[&str]| compiled(name, text, groups, &mut problems);
        let (named, judged) = match texts.case.is_empty() {
            true => (&["case"][..], &["case", "status"][..]),
            false => (&[][..], &["status"][..]),
        };
        let results = [
            (None, compile("result", &texts.result, judged)),
            (Some(Status::Passed), compile("pass", &texts.pass, named)),
            (Some(Status::Failed), compile("fail", &texts.fail, named)),
            (Some(Status::Skipped), compile("skip", &texts.skip, named)),
        ];
        let patterns = Patterns {
            case: texts.case.clone(),
            plan: compile("plan", &texts.plan, &["total"]),
            start: compile("start", &texts.start, named),
            summary: compile("summary", &texts.summary, &[]),
            ignore: compile("ignore", &texts.ignore, &[]),
            results: results.into_iter().filter_map(|(status, form)| form.map(|form| (status, form))).collect(),
        };
        if patterns.results.is_empty() && problems.is_empty() {
            problems.push("there is no pattern for results: give `result`, or `pass` and `fail`".to_owned());
        }
        if problems.is_empty() { Ok(patterns) } else { Err(problems) }
    }

    /// Parses the console output.
    pub(super) fn parse(&self, text: &str) -> Parsed {
        let lines = lines(text);
        let mut reading = ParserState::default();
        for (at, line) in lines.iter().enumerate() {
            self.line(&mut reading, at, line);
        }
        if self.summary.is_some() && reading.summary.is_none() {
            reading.doubt("there is no summary");
        }
        reading.finish(&lines)
    }

    fn line(&self, reading: &mut ParserState, at: usize, line: &Line) {
        let text = line.text.as_str();
        let captures = |form: &Option<Regex>| form.as_ref().and_then(|form| form.captures(text));
        if let Some(found) = captures(&self.plan) {
            reading.announce(number(&found, "total").unwrap_or(0));
        } else if let Some(found) = captures(&self.start) {
            reading.begin(at, "", self.case(&found));
        } else if let Some((status, found)) = self.results.iter().find_map(|(s, form)| Some((*s, form.captures(text)?)))
        {
            result(reading, at, self.case(&found), status, &found);
        } else if let Some(found) = captures(&self.summary) {
            summary(reading, &found);
        } else if captures(&self.ignore).is_none() {
            return;
        }
        reading.claim(at, 0..text.len());
    }
}

impl Patterns {
    /// Returns the case that a line is about.
    fn case<'a>(&'a self, found: &'a Captures<'_>) -> &'a str {
        Some(group(found, "case")).filter(|named| !named.is_empty()).unwrap_or(&self.case)
    }
}

fn compiled(name: &str, text: &str, groups: &[&str], problems: &mut Vec<String>) -> Option<Regex> {
    if text.is_empty() {
        return None;
    }
    match Regex::new(text) {
        Ok(form) => {
            let has = |group: &str| form.capture_names().flatten().any(|name| name == group);
            let absent = groups.iter().filter(|group| !has(group));
            let other = |group: &str| {
                if group == "case" { ", and no `case` names the one that its lines are about" } else { "" }
            };
            problems.extend(
                absent.map(|group| format!("the pattern {name} has no group (?P<{group}>...){}", other(group))),
            );
            Some(form)
        }
        Err(error) => {
            let why = error.to_string();
            problems.push(format!("the pattern {name} is wrong: {}", why.lines().last().unwrap_or_default().trim()));
            None
        }
    }
}

fn group<'a>(found: &'a Captures<'_>, name: &str) -> &'a str {
    found.name(name).map_or("", |group| group.as_str()).trim()
}

fn number(found: &Captures<'_>, name: &str) -> Option<usize> {
    group(found, name).parse().ok()
}

fn result(reading: &mut ParserState, at: usize, name: &str, status: Option<Status>, found: &Captures<'_>) {
    let status = status.or_else(|| word(group(found, "status"))).unwrap_or_else(|| {
        reading.doubt(format!("it is not known what `{}` means", group(found, "status")));
        Status::Missing
    });
    let case = reading.end(at, "", name, status);
    case.message = group(found, "message").to_owned();
    case.location = place(group(found, "file"), group(found, "line"));
    let exact = group(found, "duration_ms").parse().ok();
    case.duration_ms = exact.or_else(|| ms_of_seconds(group(found, "seconds")));
}

fn summary(reading: &mut ParserState, found: &Captures<'_>) {
    let (passed, failed, skipped) = (number(found, "passed"), number(found, "failed"), number(found, "skipped"));
    let counted = reading.found.iter().filter(|found| found.case.status != Status::Missing).count();
    let bad = reading.found.iter().filter(|found| found.case.status.is_bad()).count();
    let sum = match (passed, failed) {
        (Some(passed), Some(failed)) => Some(passed.saturating_add(failed).saturating_add(skipped.unwrap_or(0))),
        _ => None,
    };
    let total = number(found, "total").or(sum).unwrap_or(counted);
    reading.sum_up(total, failed.unwrap_or(bad));
}

/// Returns the status for a commonly printed word.
fn word(text: &str) -> Option<Status> {
    Some(match text.to_ascii_lowercase().as_str() {
        "pass" | "passed" | "ok" | "success" | "succeeded" | "good" => Status::Passed,
        "fail" | "failed" | "failure" | "error" | "not ok" | "ko" | "nok" | "bad" => Status::Failed,
        "skip" | "skipped" | "ignore" | "ignored" | "disabled" | "n/a" => Status::Skipped,
        "timeout" | "timed out" => Status::Timeout,
        "crash" | "crashed" | "abort" | "aborted" => Status::Crashed,
        _ => return None,
    })
}
