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

/// Words that ask for a choice, if options follow.
const CHOICE: [&str; 8] = ["which", "choose", "choice", "prefer", "option", "pick", "选择", "哪"];

/// Reports if a reply ends with a question, or with options to choose from.
pub(crate) fn asks(reply: &str) -> bool {
    let lines: Vec<&str> = reply.lines().map(plain_line).filter(|line| !line.is_empty()).collect();
    let Some(at) = lines.iter().rposition(|line| !is_option(line) && (is_question(line) || asks_for_choice(line)))
    else {
        return false;
    };
    let after = &lines[at + 1..];
    let options = after.iter().filter(|line| is_option(line)).count();
    // One line may follow the options, such as "Tell me which one."
    match after.is_empty() {
        true => is_question(lines[at]),
        false => options >= 2 && after.len() - options <= 1,
    }
}

/// Returns a line without the signs of Markdown around it.
fn plain_line(line: &str) -> &str {
    line.trim().trim_start_matches(['#', '>', '*', '_', ' ']).trim_end_matches(['*', '_', '"', ')', ' '])
}

fn is_question(line: &str) -> bool {
    line.ends_with(['?', '？'])
}

/// Reports if a line introduces options without being a question.
fn asks_for_choice(line: &str) -> bool {
    let lower = line.to_lowercase();
    line.ends_with([':', '：']) && CHOICE.iter().any(|word| lower.contains(word))
}

/// Reports if a line is an option: `1.`, `a)`, `(b)`, `- `, `• ` or `Option A`.
fn is_option(line: &&str) -> bool {
    let line = line.trim_start_matches(['(', '*', '`']);
    let rest = line.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric());
    let marked = line.len() - rest.len();
    let is_counted = (1..=2).contains(&marked) && rest.starts_with([')', '.', ':']);
    let is_bullet = ["- ", "• ", "– ", "+ "].iter().any(|mark| line.starts_with(mark));
    is_counted || is_bullet || line.to_lowercase().starts_with("option ")
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
        let asked = [
            "Shall I go on?",
            "Which one?\n\n1. this\n2. that",
            "**Shall I?**",
            "要继续吗？",
            "I can do it in two ways. Which do you prefer?\n- a loop\n- `$#`",
            "Which one?\n\n(a) this\n(b) that\n\nTell me which one you want.",
            "Please choose one of these:\n\n**Option A**: a loop\n**Option B**: `$#`",
            "请选择：\n1. 循环\n2. 计数",
        ];
        for reply in asked {
            assert!(asks(reply), "{reply}");
        }
        let stated = [
            "",
            "Why? Because.",
            "I asked: ok?\nThen I did it.",
            "Steps:\n1. a\n2. b",
            "Is it fast? I measured.\n- 1 ms\n- 2 ms",
            "What changed?\n- a.rs\n- b.rs\nAll tests pass.\nDone.",
        ];
        for reply in stated {
            assert!(!asks(reply), "{reply}");
        }
    }
}
