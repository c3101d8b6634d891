//! Checks commit messages: a field whose schema has `format: commit-message` must hold one that says something.

use serde_json::Value;

use super::Problem;
use crate::Question;

/// The format of a field with a commit message.
const FORMAT: &str = "commit-message";

/// The most characters of a subject line.
pub(crate) const SUBJECT_CHARS_MAX: usize = 72;

/// The most characters of a whole message.
const MESSAGE_CHARS_MAX: usize = 5_000;

/// Words that say nothing about a change. A subject that has no other words is refused.
const EMPTY_WORDS: [&str; 36] = [
    "a",
    "all",
    "and",
    "bug",
    "bugs",
    "change",
    "changes",
    "cleanup",
    "code",
    "commit",
    "edit",
    "edits",
    "few",
    "file",
    "files",
    "fix",
    "fixes",
    "fixed",
    "improve",
    "improvements",
    "issue",
    "issues",
    "minor",
    "misc",
    "more",
    "some",
    "stuff",
    "task",
    "the",
    "thing",
    "things",
    "update",
    "updated",
    "updates",
    "various",
    "wip",
];

/// Adds the problems of every field of a signal's data that holds a commit message.
pub(super) fn within(question: &Question, signal: &str, data: &Value, problems: &mut Vec<Problem>) {
    let schema = question.signal(signal).map(|signal| &signal.data["properties"]);
    for (name, field) in schema.and_then(Value::as_object).into_iter().flatten() {
        if let (true, Some(message)) = (field["format"] == FORMAT, data[name].as_str()) {
            problems.extend(fault(message).map(|what| Problem::new(format!("data.{name}"), what)));
        }
    }
}

/// Returns the reason for which a message is refused.
fn fault(message: &str) -> Option<String> {
    let mut lines = message.trim().lines();
    let subject = lines.next().unwrap_or_default();
    let length = subject.chars().count();
    if length > SUBJECT_CHARS_MAX {
        return Some(format!("has a subject of {length} characters; at most {SUBJECT_CHARS_MAX} are allowed"));
    }
    if is_generic(subject) {
        return Some(format!("has a subject that says nothing about the change: `{subject}`"));
    }
    if lines.next().is_some_and(|second| !second.trim().is_empty()) {
        return Some("needs an empty line after its subject".to_owned());
    }
    (message.chars().count() > MESSAGE_CHARS_MAX).then(|| format!("is longer than {MESSAGE_CHARS_MAX} characters"))
}

/// Returns true if a subject has no word that says anything.
pub(crate) fn is_generic(subject: &str) -> bool {
    let words = subject.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).all(|word| EMPTY_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn empty_generic_and_long_messages_are_refused() {
        for message in ["", "  ", "update", "Fix bug.", "WIP", "minor changes", "fix: the code"] {
            assert!(fault(message).unwrap().contains("says nothing"), "{message}");
        }
        assert!(fault(&"x".repeat(73)).unwrap().contains("73 characters"));
        assert!(fault("Reject empty names\nbecause").unwrap().contains("empty line"));
        assert!(fault(&format!("Reject empty names\n\n{}", "x ".repeat(3_000))).unwrap().contains("longer than"));
    }

    #[test]
    fn messages_that_name_the_change_are_accepted() {
        for message in
            ["Reject empty names", "Fix off-by-one in parse()", "修复空名称", "Reject empty names\n\nThey crash."]
        {
            assert_eq!(fault(message), None, "{message}");
        }
    }
}
