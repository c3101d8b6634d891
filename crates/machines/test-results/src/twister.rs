//! Zephyr Twister's `twister.json`: suites per platform, each with its cases.

use serde_json::Value;

use super::{
    Parsed, Status,
    reading::{ParserState, first_place, form, ms_of_seconds},
};

/// Parses the document into test results.
pub(super) fn parse(text: &str) -> Parsed {
    let mut reading = ParserState::default();
    let start = text.find('{').unwrap_or_default();
    match serde_json::from_str::<Value>(&text[start..]) {
        Ok(document) => match document.get("testsuites").and_then(Value::as_array) {
            Some(suites) => suites.iter().for_each(|suite| read(&mut reading, suite)),
            None => reading.doubt("the JSON has no testsuites"),
        },
        Err(error) => reading.doubt(format!("the JSON cannot be read: {error}")),
    }
    if form!(r#""status"\s*:\s*"(?:failed|error)""#).is_some_and(|form| form.is_match(text)) {
        reading.fail("something in it has the status failed or error");
    }
    reading.close()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn read(reading: &mut ParserState, suite: &Value) {
    if text(suite, "status") == "filtered" {
        let (name, platform) = (text(suite, "name"), text(suite, "platform"));
        return reading.notes.push(format!("{name} was not chosen for {platform}: {}", text(suite, "reason")));
    }
    let cases = suite.get("testcases").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let before = reading.found.len();
    for value in cases.iter().filter(|case| text(case, "status") != "filtered") {
        case(reading, suite, value);
    }
    let status = text(suite, "status");
    let is_bad = matches!(status, "failed" | "error");
    let is_told = reading.found[before..].iter().any(|found| found.case.status.is_bad());
    if is_bad && !is_told {
        let case = reading.end(0, text(suite, "platform"), text(suite, "name"), badly(text(suite, "reason")));
        case.message = format!("{}\n{}", text(suite, "reason"), text(suite, "log"));
    } else if !is_bad {
        unfinished(reading, suite, before);
    }
}

/// Handles a suite that has neither passed nor failed: it was planned and has no result.
fn unfinished(reading: &mut ParserState, suite: &Value, before: usize) {
    let (name, status) = (text(suite, "name"), text(suite, "status"));
    let has_cases = reading.found.len() > before;
    match status {
        "passed" => {}
        "skipped" | "not run" | "notrun" | "built" if has_cases => {}
        "skipped" | "not run" | "notrun" | "built" => {
            reading.end(0, text(suite, "platform"), name, Status::Skipped).message = text(suite, "reason").to_owned();
        }
        _ => {
            let status = if status.is_empty() { "not given" } else { status };
            reading.doubt(format!("the status of the suite {name} is {status}"));
            if !has_cases {
                reading.end(0, text(suite, "platform"), name, Status::Missing).message =
                    text(suite, "reason").to_owned();
            }
        }
    }
}

fn case(reading: &mut ParserState, suite: &Value, value: &Value) {
    let reason = [text(value, "reason"), text(suite, "reason")].into_iter().find(|text| !text.is_empty());
    let reason = reason.unwrap_or_default();
    let status = match text(value, "status") {
        "passed" => Status::Passed,
        "skipped" | "not run" | "notrun" => Status::Skipped,
        "failed" | "error" => badly(reason),
        // Statuses such as blocked, started or none: the case was planned and has no result.
        _ => Status::Missing,
    };
    let name = [text(value, "identifier"), text(value, "name")].into_iter().find(|text| !text.is_empty());
    let case = reading.end(0, text(suite, "platform"), name.unwrap_or_default(), status);
    case.duration_ms = value.get("execution_time").and_then(|time| match time {
        Value::String(text) => ms_of_seconds(text),
        other => ms_of_seconds(&other.to_string()),
    });
    if status != Status::Passed {
        let log = text(value, "log");
        case.location = first_place(log);
        case.message = if log.is_empty() { reason.to_owned() } else { format!("{reason}\n{log}") };
    }
}

fn badly(reason: &str) -> Status {
    let is = |form: Option<&'static regex::Regex>| form.is_some_and(|form| form.is_match(reason));
    if is(form!(r"(?i)\b(?:crash|fault|fatal|unhandled)")) {
        Status::Crashed
    } else if is(form!(r"(?i)\btime(?:d )?-?out")) {
        Status::Timeout
    } else {
        Status::Failed
    }
}
