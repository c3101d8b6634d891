//! The signals that are read from a turn: tool calls, their commands and exit codes, and the reply's last words. The
//! words are those of `machines/brain/schemas/signals.json`.

use interlock_chart::Value;

use crate::{
    driver::{CallKind, ToolCall},
    facts::CallFact,
};

/// The number of signals that are kept.
const OBSERVED_MAX: usize = 200;

const LINTERS: [&str; 14] = [
    "lint",
    "clippy",
    "eslint",
    "ruff",
    "flake8",
    "pylint",
    "mypy",
    "fmt --check",
    "prettier",
    "vet",
    "checkstyle",
    "clang-tidy",
    "shellcheck",
    "black",
];
const TESTERS: [&str; 8] = ["test", "pytest", "jest", "vitest", "ctest", "tox", "nextest", "unittest"];
const DONE: [&str; 6] = ["done", "finished", "completed", "implemented", "fixed", "all set"];

/// Returns the signals of a turn in order, each as `{seen, means}`.
pub(crate) fn observed(calls: &[CallFact], reply: &str) -> Value {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for fact in calls {
        let Some(pair) = of_call(&fact.call) else { continue };
        found.push(pair);
        if matches!(pair.1, "LINTING" | "TESTING") {
            found.extend(fact.exit_code.map(|code| match code {
                0 => ("exit_code_zero", "pass"),
                _ => ("exit_code_nonzero", "fail"),
            }));
        }
    }
    found.truncate(OBSERVED_MAX);
    if asks(reply) {
        found.push(("question_mark_or_options", "ai_question"));
    } else if says_done(reply) {
        found.push(("says_done", "stage_over"));
    }
    let pair = |(seen, means): (&str, &str)| Value::map([("seen", Value::from(seen)), ("means", Value::from(means))]);
    Value::List(found.into_iter().map(pair).collect())
}

fn of_call(call: &ToolCall) -> Option<(&'static str, &'static str)> {
    let command = call.command.as_deref().unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|word| has_word(command, word));
    match call.kind {
        CallKind::Edit => Some(("edit_or_write", "DEVELOPING")),
        CallKind::Execute if has(&LINTERS) => Some(("bash_lint", "LINTING")),
        CallKind::Execute if has(&TESTERS) => Some(("bash_test", "TESTING")),
        CallKind::Execute if has_word(command, "git") => Some(("bash_git", "COMMITTING")),
        CallKind::Question => Some(("question_mark_or_options", "ai_question")),
        _ => None,
    }
}

/// Reports if a command contains a word, not as part of a longer one.
fn has_word(command: &str, word: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric();
    command
        .match_indices(word)
        .any(|(at, _)| !command[..at].ends_with(is_part) && !command[at + word.len()..].starts_with(is_part))
}

/// Reports if a reply ends with a question, or with options to choose from.
pub(crate) fn asks(reply: &str) -> bool {
    let lines: Vec<&str> = reply.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_question = |line: &str| line.trim_end_matches(['*', '_', '"', ')', ' ']).ends_with(['?', '？']);
    let is_option = |line: &&&str| {
        let rest = line.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric());
        rest.len() < line.len() && line.len() - rest.len() <= 2 && rest.starts_with([')', '.'])
    };
    let options = lines.iter().rev().take_while(is_option).count();
    match lines.len().checked_sub(options + 1).and_then(|at| lines.get(at)) {
        Some(before) if options >= 2 => is_question(before),
        _ => lines.last().is_some_and(|line| is_question(line)),
    }
}

fn says_done(reply: &str) -> bool {
    let reply = reply.to_lowercase();
    DONE.iter().any(|word| has_word(&reply, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execute(command: &str, exit_code: Option<i64>) -> CallFact {
        let call = ToolCall { kind: CallKind::Execute, command: Some(command.into()), ..ToolCall::default() };
        CallFact { call, exit_code, ..CallFact::default() }
    }

    #[test]
    fn calls_and_words_become_signals() {
        let edit = CallFact { call: ToolCall { kind: CallKind::Edit, ..ToolCall::default() }, ..CallFact::default() };
        let calls = [
            edit,
            execute("cargo clippy", Some(1)),
            execute("make test", Some(0)),
            execute("git add .", Some(0)),
            execute("ls latest", Some(0)),
        ];
        let json = serde_json::Value::from(&observed(&calls, "All done."));
        let seen: Vec<&str> = json.as_array().unwrap().iter().map(|one| one["seen"].as_str().unwrap()).collect();
        let expected =
            ["edit_or_write", "bash_lint", "exit_code_nonzero", "bash_test", "exit_code_zero", "bash_git", "says_done"];
        assert_eq!(seen, expected);
    }

    #[test]
    fn question_is_found_at_the_end_only() {
        for reply in ["Shall I go on?", "Which one?\n\n1. this\n2. that", "**Shall I?**", "要继续吗？"] {
            assert!(asks(reply), "{reply}");
        }
        for reply in ["", "Why? Because.", "I asked: ok?\nThen I did it.", "Steps:\n1. a\n2. b"] {
            assert!(!asks(reply), "{reply}");
        }
    }
}
