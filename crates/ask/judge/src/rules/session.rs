//! Judges the work of a coding agent's session without a model: the review of a round, the intent of a message, the commit
//! message, a failed deployment and the summary.
//!
//! These rules are the signal table of `machines/brain/schemas/signals.json`. They notice that nothing was changed, that
//! the session asks something and that a merge was left half done. They cannot decide that code is right, and say so.

use interlock_triage::Fault;
use serde_json::{Value, json};

use super::{QuestionFindings, instruction, sureness};
use crate::{
    Verdict,
    check::{SUBJECT_CHARS_MAX, is_generic},
};

/// The confidence of a verdict that only follows from the absence of objections.
const UNOPPOSED: f64 = 0.5;

/// The confidence of a verdict that follows from a fact.
const SURE: f64 = 0.8;

/// The most files that a commit message lists.
const FILES_MAX: usize = 20;

/// Texts that begin a request for a deployment.
const DEPLOY: [&str; 6] = ["deploy", "ship it", "release it", "roll it out", "部署", "上线"];

/// Texts that begin a request for more work.
const GO_ON: [&str; 22] = [
    "go on",
    "continue",
    "carry on",
    "resume",
    "retry",
    "try again",
    "add ",
    "change ",
    "fix ",
    "implement ",
    "make ",
    "write ",
    "remove ",
    "rename ",
    "use ",
    "also ",
    "instead",
    "继续",
    "修改",
    "添加",
    "实现",
    "修复",
];

/// The answer to a question of the session if no model can give one.
const DECIDE: &str = "Decide this yourself: choose the option that is easier to undo, say which one you chose, and continue with the task.";

/// Returns the verdict on a question of a session; `None` for other questions, and if no rule applies.
pub(super) fn judge(known: &QuestionFindings<'_>, allows: impl Fn(&[&str]) -> bool) -> Option<Verdict> {
    if allows(&["has_issue", "no_issue", "ai_question"]) {
        return review(known);
    }
    if allows(&["go_on", "deploy", "keep"]) {
        return refine(known);
    }
    if allows(&["message_written"]) {
        return commit_message(known);
    }
    if allows(&["retry", "fix", "roll_back"]) {
        return deployment(known);
    }
    if allows(&["summarized"]) {
        return summary(known);
    }
    None
}

/// Returns a fact as text; empty if there is none.
fn text<'k>(known: &'k QuestionFindings<'_>, name: &str) -> &'k str {
    known.question.facts.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'k>(known: &'k QuestionFindings<'_>, name: &str) -> Vec<&'k str> {
    let items = known.question.facts.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).collect()
}

/// Returns true if the session's stream showed a signal.
fn is_seen(known: &QuestionFindings<'_>, signal: &str) -> bool {
    let observed =
        known.question.facts.get("observed").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    observed.iter().any(|one| one.get("seen").and_then(Value::as_str) == Some(signal))
}

fn review(known: &QuestionFindings<'_>) -> Option<Verdict> {
    known.question.facts.get("files")?;
    let is_edited = known.question.facts.get("edited") == Some(&Value::Bool(true));
    if let Some(line) = conflict(known) {
        let reason = format!("a line of a merge conflict was left: {line}");
        let data = json!({ "reason": reason, "suggestion": "Resolve the merge conflict and remove its markers." });
        return known.verdict("has_issue", data, SURE, reason);
    }
    if !is_edited && is_seen(known, "question_mark_or_options") {
        let reason = "the session changed nothing and ended with a question or a choice".to_owned();
        return known.verdict("ai_question", json!({ "reason": reason, "suggestion": DECIDE }), SURE, reason);
    }
    if is_edited && offers_choice(text(known, "said")) {
        let reason = "the session ended with options to choose from".to_owned();
        return known.verdict("ai_question", json!({ "reason": reason, "suggestion": DECIDE }), SURE, reason);
    }
    if texts(known, "files").is_empty() {
        let reason = "no file differs from the start, so the task has not been carried out".to_owned();
        let suggestion = format!("You have changed no file. Carry out the task: {}", text(known, "task"));
        return known.verdict("has_issue", json!({ "reason": reason, "suggestion": suggestion }), SURE, reason);
    }
    let reason = "rules found no objection; no model has read the diff".to_owned();
    known.verdict("no_issue", json!({ "reason": reason }), UNOPPOSED, reason)
}

/// Returns true if a reply ends with a question and at least two options. Other questions at the end of a round that changed
/// files are often only polite.
fn offers_choice(said: &str) -> bool {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_option = |line: &&&str| {
        let line = line.trim_start_matches(['*', '(', '_']);
        let marked = line.len() - line.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric()).len();
        let is_counted = (1..=2).contains(&marked) && line[marked..].starts_with([')', '.', ':']);
        is_counted || line.starts_with("- ") || line.to_lowercase().starts_with("option ")
    };
    let options = lines.iter().rev().take_while(is_option).count();
    let before = lines.len().checked_sub(options + 1).and_then(|at| lines.get(at));
    options >= 2 && before.is_some_and(|line| line.trim_end_matches(['*', '_', ' ']).ends_with(['?', '？']))
}

/// Returns the first line that a diff adds and that marks a merge conflict.
fn conflict<'k>(known: &'k QuestionFindings<'_>) -> Option<&'k str> {
    let diffs = known.question.evidence.iter().filter(|exhibit| exhibit.text.starts_with("diff --git "));
    let mut lines = diffs.flat_map(|exhibit| exhibit.text.lines());
    lines.find(|line| ["+<<<<<<< ", "+>>>>>>> "].iter().any(|mark| line.starts_with(mark)))
}

fn refine(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let message = text(known, "message").trim();
    let plain = message.to_lowercase();
    let plain = plain.strip_prefix("please ").unwrap_or(&plain);
    let begins = |words: &[&str]| words.iter().any(|word| plain.starts_with(word));
    if message.is_empty() {
        return None;
    }
    if begins(&DEPLOY) {
        let reason = "the message asks for a deployment".to_owned();
        return known.verdict("deploy", json!({ "reason": reason }), SURE, reason);
    }
    let (signal, reason) = match (text(known, "asked").is_empty(), begins(&GO_ON)) {
        (false, _) => ("go_on", "the message answers the question that the run waits for"),
        (true, true) => ("go_on", "the message asks for more work"),
        (true, false) => ("keep", "the message is passed on"),
    };
    known.verdict(signal, json!({ "reason": reason, "suggestion": message }), UNOPPOSED, reason.to_owned())
}

fn commit_message(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let mut files = texts(known, "files");
    // A long list ends with the number of the files that are not in it.
    let unlisted =
        files.last().and_then(|last| last.strip_prefix("and ")?.strip_suffix(" more files")?.parse::<usize>().ok());
    files.truncate(files.len() - usize::from(unlisted.is_some()));
    let count = files.len() + unlisted.unwrap_or(0);
    let subject = subject(text(known, "task")).or_else(|| {
        let first = files.first()?;
        let path = first.split(" (").next().unwrap_or(first);
        let subject =
            if count == 1 { format!("Change {path}") } else { format!("Change {path} and {} more", count - 1) };
        Some(cut(&subject))
    })?;
    let mut message = subject;
    for (at, file) in files.iter().take(FILES_MAX).enumerate() {
        message.push_str(&format!("{}- {file}\n", if at == 0 { "\n\n" } else { "" }));
    }
    if count > FILES_MAX {
        message.push_str(&format!("- and {} more\n", count - FILES_MAX));
    }
    let reason = "the subject is the task, and the body lists the changed files".to_owned();
    known.verdict("message_written", json!({ "message": message.trim_end() }), UNOPPOSED, reason)
}

/// Makes a subject from a task: its first line without courtesies, cut to whole words. `None` if it says nothing.
fn subject(task: &str) -> Option<String> {
    let mut line = task.lines().map(str::trim).find(|line| !line.is_empty())?;
    for courtesy in ["Please ", "please ", "Can you ", "can you ", "Could you ", "could you "] {
        line = line.strip_prefix(courtesy).unwrap_or(line);
    }
    let line = line.trim_end_matches(['.', '?', '!', ' ']);
    let mut letters = line.chars();
    let line: String = letters.next()?.to_uppercase().chain(letters).collect();
    (!is_generic(&line)).then(|| cut(&line))
}

/// Cuts a text to the length of a subject, at the end of a word if there is one.
fn cut(text: &str) -> String {
    if text.chars().count() <= SUBJECT_CHARS_MAX {
        return text.to_owned();
    }
    let short: String = text.chars().take(SUBJECT_CHARS_MAX).collect();
    short.rsplit_once(' ').map_or(short.clone(), |(whole, _)| whole.to_owned())
}

/// Judges a failed deployment: a fault of the environment may pass, a fault of the code needs a change.
fn deployment(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let Some(cause) = known.findings.first() else {
        let reason = "the output does not show why the deployment failed".to_owned();
        return known.verdict("roll_back", json!({ "reason": reason }), UNOPPOSED, reason);
    };
    let reason = known.reason(cause);
    match known.fault(cause)? {
        Fault::Environment => known.verdict("retry", json!({ "reason": reason }), sureness(cause), reason),
        Fault::Code => {
            let data = json!({ "reason": reason, "suggestion": instruction(cause) });
            known.verdict("fix", data, sureness(cause), reason)
        }
    }
}

fn summary(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let facts = &known.question.facts;
    let is_done = facts.get("succeeded")?.as_bool()?;
    let (commit, warnings) = (text(known, "commit"), texts(known, "warnings"));
    let mut summary = if is_done { "Done." } else { "Not done." }.to_owned();
    let short: String = commit.chars().take(12).collect();
    match (commit, facts.get("committed") == Some(&Value::Bool(false))) {
        ("", _) => summary.push_str(" Nothing was committed."),
        (_, false) => summary.push_str(&format!(" Committed {short}.")),
        (_, true) => summary.push_str(&format!(" Nothing was committed after {short}.")),
    }
    if !warnings.is_empty() {
        summary.push_str(&format!(" Warnings: {}.", warnings.join(", ")));
    }
    if !text(known, "checks").is_empty() {
        summary.push_str(&format!(" Checks: {}.", text(known, "checks")));
    }
    known.verdict("summarized", json!({ "summary": summary }), SURE, "the facts of the run in one sentence".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{cut, offers_choice, subject};

    #[test]
    fn choice_is_told_apart_from_a_polite_question() {
        assert!(offers_choice("Half is done. Which one?\n1. a loop\n2. `$#`"));
        assert!(offers_choice("**Which one?**\n\n- a loop\n- `$#`"));
        assert!(!offers_choice("Done. Shall I do more?"));
        assert!(!offers_choice("I changed:\n- a.rs\n- b.rs"));
    }

    #[test]
    fn subject_is_the_task_without_courtesies() {
        assert_eq!(subject("please make add() handle zero.\nMore").as_deref(), Some("Make add() handle zero"));
        assert_eq!(subject("Fix the bug"), None);
        assert_eq!(subject("\n \n"), None);
    }

    #[test]
    fn long_subjects_end_with_a_whole_word() {
        let short = cut(&"word ".repeat(30));
        assert!(short.chars().count() <= 72 && short.ends_with("word"), "{short}");
    }
}
