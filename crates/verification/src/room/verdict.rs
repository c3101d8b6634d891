//! What a room found out about a change.

use interlock_journal::Evidence;
use interlock_test_results::Census;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::CommandRun;

/// The result of one run of all commands of a check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// The exit code of the first command that failed, or 0.
    pub(crate) exit_code: i64,
    /// The duration in milliseconds.
    pub(crate) took_ms: u64,
    /// The cases that it printed.
    pub(crate) census: Census,
    /// The failure in one line; empty if there is none.
    pub(crate) summary: String,
    /// The cause, if the environment made it fail.
    pub(crate) fault: Option<String>,
}

impl Measured {
    /// Returns true if every command succeeded.
    pub(crate) fn is_green(&self) -> bool {
        self.exit_code == 0
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "exit_code": self.exit_code,
            "took_ms": self.took_ms,
            "cases": self.census.cases.len(),
            "passed": self.census.passed(),
            "readable": self.census.is_readable(),
            "summary": self.summary,
        })
    }
}

/// A reason why a green check is less than a verification, for which nobody is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A word for machines: `untested`, `no_cases`, `no_change`, `switched_off`.
    pub code: &'static str,
    /// A sentence for people.
    pub text: String,
}

/// The verdict of a room.
#[derive(Debug)]
pub struct Verdict {
    /// The commands of the deciding run.
    pub runs: Vec<CommandRun>,
    /// Reasons why a green check does not count until the agent or a person has dealt with them. Each names the content
    /// that it is about by a hash, so that an acceptance is an acceptance of that content.
    pub objections: Vec<String>,
    /// Reasons why the result is incomplete.
    pub warnings: Vec<Warning>,
    /// Everything that was measured, in words.
    pub notes: Vec<String>,
    /// The stored output of all runs, and the facts as JSON.
    pub evidence: Vec<Evidence>,
}

impl Verdict {
    /// Returns the command that failed in the deciding run.
    pub fn failed(&self) -> Option<&CommandRun> {
        self.runs.iter().find(|run| run.exit_code != 0)
    }

    /// Returns true if the check is green and nobody objects. It may still have warnings.
    pub fn is_verified(&self) -> bool {
        self.failed().is_none() && self.objections.is_empty()
    }

    /// Summarizes what was shown, in one line.
    pub fn summary(&self) -> String {
        let parts = self.objections.iter().chain(self.warnings.iter().map(|warning| &warning.text)).chain(&self.notes);
        parts.cloned().collect::<Vec<_>>().join("; ")
    }
}
