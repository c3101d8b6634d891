//! Placeholder text that a judge wrote instead of an answer.

use serde_json::Value;

use super::{Problem, short};

/// Common placeholders. They are compared in lower case, after surrounding whitespace and punctuation are removed.
const PLACEHOLDERS: [&str; 24] = [
    "todo",
    "tbd",
    "tba",
    "fixme",
    "xxx",
    "n/a",
    "na",
    "none",
    "null",
    "nil",
    "undefined",
    "unknown",
    "placeholder",
    "string",
    "text",
    "reason",
    "summary",
    "suggestion",
    "lorem ipsum",
    "example",
    "your answer here",
    "insert reason here",
    "same as above",
    "see above",
];

/// Reports if a text is empty or only a placeholder. Used for the reason; for other fields the schema decides if they
/// may be empty.
pub(super) fn is(text: &str) -> bool {
    let bare = text.trim_matches(|sign: char| sign.is_whitespace() || sign.is_ascii_punctuation() || sign == '…');
    bare.is_empty() || PLACEHOLDERS.contains(&bare.to_lowercase().as_str())
}

/// Reports placeholders anywhere in the data. Empty texts are left to the schema (`minLength`).
pub(super) fn within(value: &Value, path: &str, problems: &mut Vec<Problem>) {
    match value {
        Value::String(text) if pretends(text) => {
            problems.push(Problem::new(path, format!("is a placeholder, not an answer: {}", short(value))));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| within(item, &format!("{path}[{at}]"), problems));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| within(value, &format!("{path}.{name}"), problems));
        }
        _ => {}
    }
}

/// A narrower test than [`is`]: in data, `none` or `text` can be a value of an enum, and `.` a path.
fn pretends(text: &str) -> bool {
    const ALWAYS: [&str; 8] =
        ["todo", "tbd", "tba", "fixme", "n/a", "placeholder", "your answer here", "insert reason here"];
    let text = text.trim();
    let is_dots = text.len() >= 3 && text.chars().all(|sign| sign == '.') || text == "…";
    let bare = text.trim_matches(|sign: char| sign.is_whitespace() || "<>[](){}.…*_`\"':;!-".contains(sign));
    is_dots || ALWAYS.contains(&bare.to_lowercase().as_str())
}
