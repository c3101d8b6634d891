//! What an ended attempt did in the world: the commands that it executed, and whose time it took.
//!
//! The activity itself says so ([`Activity::account`](crate::Activity::account)), from what its outcome recorded; no
//! reader knows activities by name. An activity that runs programs, verifies something or lets an agent work returns an
//! account; a test in `crates/cli/src/compose.rs` checks that every activity with a sandbox does.

use interlock_journal::{AttemptResult, Entry};
use serde_json::Value as Json;

use super::{RunRecord, reading::text, shell_word};

/// Whose time an attempt takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Worker {
    /// Interlock itself, except for the time that its commands report.
    #[default]
    Interlock,
    /// A coding agent: the whole attempt.
    Agent,
    /// Another run or another computer: the whole attempt.
    Others,
}

/// What an ended attempt did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The commands that it executed, in order.
    pub commands: Vec<ExecutedCommand>,
    /// Whose time it took.
    pub worker: Worker,
    /// The reason why its commands verify nothing although they were to verify the result.
    pub doubt: Option<String>,
}

/// A command that an attempt executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutedCommand {
    /// The command as a person would type it.
    pub command: String,
    /// True if the result of the run counts as verified if this passes. What an agent executes by itself verifies nothing.
    pub verifies: bool,
    /// True if it ended as a success.
    pub has_passed: bool,
    /// The exit code; `None` if it is not known or the command was stopped before it ended.
    pub exit_code: Option<i64>,
    /// The time that it took, in milliseconds, if that is known.
    pub duration_ms: Option<u64>,
    /// The last line of its output, or the error of the attempt.
    pub message: String,
    /// The git tree of the directory after the command, if that was measured.
    pub tree: Option<String>,
}

impl ExecutedCommand {
    /// Reads a command from a list of them, as activities record it: `{command, exit_code, took_ms, summary}`.
    pub fn listed(item: &Json, verifies: bool) -> Option<Self> {
        let exit_code = item["exit_code"].as_i64();
        Some(ExecutedCommand {
            command: command_line(&item["command"])?,
            verifies,
            has_passed: exit_code == Some(0),
            exit_code,
            duration_ms: item["took_ms"].as_u64(),
            message: text(&item["summary"]),
            tree: None,
        })
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

impl RunRecord {
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
