//! Checks if a judge's answer is a valid verdict: strictly, locally, and without coercing values.
//!
//! `"true"` is not `true`, an unknown field is an error, and a misspelled signal is wrong. Every problem names its path
//! and the cause, because the problems are sent back to the judge for a correction.

mod commit_message;
mod form;
mod json;
mod placeholder;
mod refs;
mod shape;

use serde_json::{Map, Value};

pub(crate) use commit_message::{SUBJECT_CHARS_MAX, is_generic};
pub use form::Form;
pub use json::DEPTH_MAX;

use crate::{Question, Verdict};

/// The maximum number of problems that are reported at once. A longer list would not help the judge to correct its
/// answer.
pub const PROBLEMS_MAX: usize = 12;

/// The maximum length of an answer.
pub const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// The fields of an answer, in the order in which a model should write them: the reason before the verdict.
pub const FIELDS: [&str; 5] = ["reason", "evidence_refs", "confidence", "signal", "data"];

/// One problem of an answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[error("{path}: {what}")]
pub struct Problem {
    /// The path of the problem, as in `data.plan.steps[0].title`; `answer` means the whole answer.
    pub path: String,
    /// A description that continues the path, such as "is missing".
    pub what: String,
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        Problem { path: path.into(), what: what.into() }
    }
}

/// Parses and checks a judge's answer. Returns the verdict, or all problems found, at most [`PROBLEMS_MAX`].
///
/// One code fence around the JSON is removed, because chat models add it by habit; any other text around it is refused.
pub fn check(form: &Form, question: &Question, said: &str) -> Result<Verdict, Vec<Problem>> {
    let value = json::parse(said).map_err(|problem| vec![problem])?;
    let Value::Object(fields) = value else {
        let what = format!("must be one JSON object, not {}", kind(&value));
        return Err(vec![Problem::new("answer", what)]);
    };
    let mut problems = Vec::new();
    fields_known(&fields, &mut problems);
    let reason = reason(&fields, &mut problems);
    let confidence = confidence(&fields, &mut problems);
    let evidence_refs = refs::top(&fields, question, &mut problems);
    let signal = signal(&fields, question, &mut problems);
    let data = fields.get("data").cloned();
    if let (Some(signal), Some(said)) = (&signal, &data) {
        problems.extend(self::data(form, question, signal, said));
    }
    match (signal, data, confidence, reason) {
        (Some(signal), Some(data), Some(confidence), Some(reason)) if problems.is_empty() => {
            Ok(Verdict { signal, data, confidence, reason, evidence_refs })
        }
        _ => {
            problems.truncate(PROBLEMS_MAX);
            Err(problems)
        }
    }
}

/// Checks the data that a signal carries, and returns its problems.
pub(crate) fn data(form: &Form, question: &Question, signal: &str, data: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    form.check_data(signal, data, &mut problems);
    refs::within(data, question, "data", &mut problems);
    placeholder::within(data, "data", &mut problems);
    commit_message::within(question, signal, data, &mut problems);
    problems
}

fn fields_known(fields: &Map<String, Value>, problems: &mut Vec<Problem>) {
    let unknown = fields.keys().filter(|name| !FIELDS.contains(&name.as_str()));
    problems.extend(unknown.map(|name| {
        Problem::new(name.as_str(), format!("is not a field of an answer; the fields are {}", FIELDS.join(", ")))
    }));
    let missing = FIELDS.iter().filter(|name| !fields.contains_key(**name));
    problems.extend(missing.map(|name| Problem::new(*name, "is missing")));
}

fn reason(fields: &Map<String, Value>, problems: &mut Vec<Problem>) -> Option<String> {
    let value = fields.get("reason")?;
    let Some(text) = value.as_str() else {
        problems.push(Problem::new("reason", format!("must be a string, not {}", kind(value))));
        return None;
    };
    if placeholder::is(text) {
        problems.push(Problem::new("reason", format!("has no content: {}", short(value))));
    }
    Some(text.to_owned())
}

fn confidence(fields: &Map<String, Value>, problems: &mut Vec<Problem>) -> Option<f64> {
    let value = fields.get("confidence")?;
    match value.as_f64().filter(|number| (0.0..=1.0).contains(number)) {
        Some(number) => Some(number),
        None => {
            problems.push(Problem::new("confidence", format!("must be a number from 0 to 1, not {}", short(value))));
            None
        }
    }
}

fn signal(fields: &Map<String, Value>, question: &Question, problems: &mut Vec<Problem>) -> Option<String> {
    let value = fields.get("signal")?;
    match value.as_str().filter(|name| question.signal(name).is_some()) {
        Some(name) => Some(name.to_owned()),
        None => {
            let known: Vec<&str> = question.signals.iter().map(|signal| signal.name.as_str()).collect();
            let what = format!("must be one of {}, not {}", known.join(", "), short(value));
            problems.push(Problem::new("signal", what));
            None
        }
    }
}

/// Names the JSON type of a value, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Formats a value, truncated so that it fits into a sentence.
pub(crate) fn short(value: &Value) -> String {
    const CHARS_MAX: usize = 60;
    let text = value.to_string();
    match text.chars().count() {
        0..=CHARS_MAX => text,
        _ => format!("{}…", text.chars().take(CHARS_MAX).collect::<String>()),
    }
}

#[cfg(test)]
mod tests;
