//! What an ended attempt did in the world: the commands that it executed, and whose time it took.
//!
//! The activity itself says so ([`Activity::account`](crate::Activity::account)), from what its outcome recorded; no
//! reader knows activities by name. An activity that runs programs, verifies something or lets an agent work returns an
//! account; a test in `crates/edge/cli/src/compose.rs` checks that every activity with a sandbox does.

use interlock_chart::Value;
use interlock_journal::{AttemptResult, Entry};
use serde_json::Value as Json;

use super::{RunRecord, reading::text, shell_word};
use crate::code;

/// Whose time an attempt takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Worker {
    /// Interlock itself, except for the time that its commands report.
    #[default]
    Interlock,
    /// The programs that it starts: the whole attempt, as when a verification runs commands in several places.
    Programs,
    /// A coding agent: the whole attempt.
    Agent,
    /// Another run or another computer: the whole attempt.
    Others,
}

/// The meaning of a command for the result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: an agent or a model executed it by itself, or its attempt says that it does not count.
    #[default]
    Nothing,
    /// The machine executed it, but did not declare it as a check: if it fails, the run has a failure; if it passes, that
    /// verifies nothing.
    Step,
    /// The machine declared it as a check: the result of the run counts as verified if it passes.
    Check,
}

/// The account of an ended attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The commands that it executed, in order.
    pub commands: Vec<ExecutedCommand>,
    /// Whose time it took.
    pub worker: Worker,
    /// The reason why its commands verify nothing although they were to verify the result.
    pub doubt: Option<String>,
    /// The files that it keeps as the machine's own records, relative to the run's directory. No check is about them, so
    /// writing them after a check takes nothing away from it.
    pub records: Vec<String>,
}

/// A command that an attempt executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutedCommand {
    /// The command as a person would type it.
    pub command: String,
    /// Its meaning for the result.
    pub claim: Claim,
    /// True if it ended as a success.
    pub has_passed: bool,
    /// The reason why it proves nothing although it ended as a success.
    pub objection: Option<String>,
    /// What a verification could not show with it although nobody objects, such as that the check would notice an error.
    pub shortfall: Option<String>,
    /// The exit code; `None` if it is not known or the command was stopped before it ended.
    pub exit_code: Option<i64>,
    /// The time that it took, in milliseconds, if that is known.
    pub duration_ms: Option<u64>,
    /// The last line of its output, or the error of the attempt.
    pub message: String,
    /// The git tree of the directory after the command, if that was measured.
    pub tree: Option<String>,
    /// The facts that a verification has shown with it, in one line; empty without a verification.
    pub shown: String,
}

impl ExecutedCommand {
    /// Reads a command from a list of them, as activities record it: `{command, exit_code, took_ms, summary}`.
    pub fn listed(item: &Json, claim: Claim) -> Option<Self> {
        let exit_code = item["exit_code"].as_i64();
        Some(ExecutedCommand {
            command: command_line(&item["command"])?,
            claim,
            has_passed: exit_code == Some(0),
            objection: None,
            shortfall: None,
            exit_code,
            duration_ms: item["took_ms"].as_u64(),
            message: text(&item["summary"]),
            tree: None,
            shown: item["shown"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Returns true if the machine declared it as a check.
    pub fn is_check(&self) -> bool {
        self.claim == Claim::Check
    }
}

/// Formats a command: a string is a shell command, a list is a program with its arguments.
pub fn command_line(given: &Json) -> Option<String> {
    match given {
        Json::String(line) => Some(line.trim().to_owned()),
        Json::Array(words) => Some(words.iter().map(|word| shell_word(&text(word))).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// The recorded end of an attempt.
#[derive(Clone, Debug)]
pub struct EndedAttempt {
    /// The signal; `None` if it ended with an error.
    pub signal: Option<String>,
    /// The data of the signal or of the error.
    pub data: Json,
    /// The arguments of the activity.
    pub with: Json,
}

/// The fields of an outcome with which the gate refuses an attempt.
const REFUSAL: [&str; 5] = ["code", "message", "reason", "rule", "scope"];

impl RunRecord {
    /// Returns false if the gate refused the attempt, so that the activity executed nothing.
    pub fn was_admitted(&self) -> bool {
        let Entry::Outcome { result: AttemptResult::Error { data: Value::Map(fields) }, by: None, .. } = &self.entry
        else {
            return true;
        };
        let is_code = |code: &Value| {
            [code::POLICY_DENIED, code::CONFIRMATION_NEEDED].iter().any(|known| code.as_str() == Some(known))
        };
        let is_refusal =
            fields.get("code").is_some_and(is_code) && fields.keys().all(|name| REFUSAL.contains(&&**name));
        !is_refusal
    }

    /// Returns the end of the attempt that the record is about. A result that a person reported is none.
    pub fn ended(&self) -> Option<EndedAttempt> {
        let Entry::Outcome { result, by: None, .. } = &self.entry else { return None };
        let with = Json::from(&self.activity.as_ref()?.with);
        let (signal, data) = match result {
            AttemptResult::Signal { name, data } => (Some(name.clone()), Json::from(data)),
            AttemptResult::Error { data } => (None, Json::from(data)),
        };
        Some(EndedAttempt { signal, data, with })
    }
}
