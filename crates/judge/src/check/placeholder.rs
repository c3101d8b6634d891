//! Text that stands for an answer and is none.

use serde_json::Value;

use super::{Problem, short};

/// What people and models write where something should stand. Compared without case and without what surrounds it.
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

/// Fields that may be empty: the schema says whether they may, and an empty one means that there is nothing to say.
pub(super) fn is(text: &str) -> bool {
    let bare = text.trim_matches(|sign: char| sign.is_whitespace() || sign.is_ascii_punctuation() || sign == '…');
    bare.is_empty() || PLACEHOLDERS.contains(&bare.to_lowercase().as_str())
}

/// Texts in data. An empty one is the schema's business (`minLength`); one that only pretends is ours.
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

/// Narrower than [`is`]: in data `none` or `text` can be a value of an enum, and `.` a path.
fn pretends(text: &str) -> bool {
    const ALWAYS: [&str; 8] =
        ["todo", "tbd", "tba", "fixme", "n/a", "placeholder", "your answer here", "insert reason here"];
    let text = text.trim();
    let is_dots = text.len() >= 3 && text.chars().all(|sign| sign == '.') || text == "…";
    let bare = text.trim_matches(|sign: char| sign.is_whitespace() || "<>[](){}.…*_`\"':;!-".contains(sign));
    is_dots || ALWAYS.contains(&bare.to_lowercase().as_str())
}
