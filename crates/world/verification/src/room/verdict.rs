//! The verdict of a room about a change.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The different lines that it printed, without their numbers.
    #[serde(default)]
    pub(crate) lines: BTreeSet<String>,
    /// The names of modules and files that a failing check could not find.
    #[serde(default)]
    pub(crate) missing: BTreeSet<String>,
    /// The failure in one line; empty if there is none.
    pub(crate) summary: String,
    /// The cause, if the environment made it fail.
    pub(crate) fault: Option<String>,
    /// The files of the tree that it read; `None` if that cannot be observed.
    pub(crate) read: Option<BTreeSet<String>>,
}

impl Measured {
    /// Returns true if every command succeeded.
    pub(crate) fn is_green(&self) -> bool {
        self.exit_code == 0
    }

    /// Returns true if the check read this file of its tree, or may have read it.
    pub(crate) fn has_read(&self, path: &str) -> bool {
        self.read.as_ref().is_none_or(|read| read.contains(path))
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "exit_code": self.exit_code,
            "took_ms": self.took_ms,
            "cases": self.census.cases.len(),
            "passed": self.census.passed(),
            "readable": self.census.is_readable(),
            "files_read": self.read.as_ref().map(BTreeSet::len),
            "summary": self.summary,
        })
    }
}

/// A reason why a green check is less than a verification, for which nobody is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A word for machines: `untested`, `no_cases`, `cases_unreadable`, `no_change`, `not_clean`, `checks_changed`,
    /// `surroundings`, `switched_off`.
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
    /// The answers to the four questions, in one short line.
    pub shown: String,
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

/// The most lines of an output that are kept.
const LINES_MAX: usize = 1_000;

/// How often the same line is counted.
const SAME_MAX: usize = 100;

/// Returns the lines of an output without what differs from run to run: numbers and white space. The same line has a number
/// from the second time on.
pub(crate) fn lines(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.map(|line| line.chars().filter(|letter| !letter.is_ascii_digit()).take(200).collect::<String>());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines.filter(|line| !line.is_empty()).take(LINES_MAX) {
        *counts.entry(line).or_default() += 1;
    }
    let numbered = counts.into_iter().flat_map(|(line, count)| {
        (1..=count.min(SAME_MAX))
            .map(move |number| if number == 1 { line.clone() } else { format!("{line} #{number}") })
    });
    numbered.collect()
}

/// Words what was measured: the tested tree, the checks, the cases before and after, and the broken sources.
pub(crate) fn shown(facts: &Json) -> String {
    let tree: String = facts["tree"].as_str().unwrap_or_default().chars().take(12).collect();
    let cases = |run: &Json| match run["readable"] == true {
        true => run["passed"].to_string(),
        false => (if run["exit_code"] == 0 { "exit code 0" } else { "failed" }).to_owned(),
    };
    let mut parts = vec![format!("tree {tree}")];
    parts.push(match &facts["old_checks"] {
        Json::Null if facts["old_checks_off"] == true => "old checks switched off".to_owned(),
        Json::Null => "same checks".to_owned(),
        old => format!("old checks {}", if old["exit_code"] == 0 { "pass" } else { "fail" }),
    });
    parts.push(match &facts["before"] {
        Json::Null => format!("cases {}", cases(&facts["deciding"])),
        before => format!("cases {} → {}", cases(before), cases(&facts["deciding"])),
    });
    let broken: Vec<&Json> = facts["broken"].as_object().into_iter().flat_map(|runs| runs.values()).collect();
    if !broken.is_empty() {
        let red = broken.iter().filter(|run| run["exit_code"] != 0).count();
        parts.push(format!("broken {} times → red {red}", broken.len()));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_says_what_was_measured() {
        let run = |exit_code: i64, passed: u64| json!({ "exit_code": exit_code, "passed": passed, "readable": true });
        let facts = json!({
            "tree": "0123456789abcdef", "deciding": run(0, 14), "before": run(0, 12), "old_checks": run(0, 12),
            "broken": { "syntax: a.py": run(1, 0), "stop: a.py": run(1, 3) },
        });
        assert_eq!(shown(&facts), "tree 0123456789ab, old checks pass, cases 12 → 14, broken 2 times → red 2");
        let facts = json!({ "tree": "0123456789abcdef", "deciding": { "exit_code": 0, "readable": false } });
        assert_eq!(shown(&facts), "tree 0123456789ab, same checks, cases exit code 0");
        let facts = json!({ "tree": "0", "deciding": { "exit_code": 0 }, "old_checks_off": true });
        assert_eq!(shown(&facts), "tree 0, old checks switched off, cases exit code 0");
    }
}
