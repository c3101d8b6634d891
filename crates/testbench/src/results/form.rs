//! The one form of test results.

use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was left out.
    Skipped,
    /// It took too long.
    Timeout,
    /// It ended the program.
    Crashed,
    /// It was announced and never reported.
    Missing,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name, unique within a run.
    pub case_id: String,
    /// How it ended.
    pub status: Status,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it says; empty where it says nothing.
    pub message: String,
    /// Where it failed.
    pub location: Option<Location>,
    /// What it stood in, innermost first.
    pub stack: Vec<String>,
    /// Files that belong to it.
    pub artifacts: Vec<String>,
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    /// The file as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What a text says about tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parsed {
    /// Every case, once; those announced and never reported are `missing`.
    pub cases: Vec<Case>,
    /// How many cases it announced: a plan, a count at the start.
    pub announced: Option<usize>,
    /// How many it says there were at its end, with those that failed.
    pub summary: Option<(usize, usize)>,
    /// Why it cannot be believed as it is: it ends in the middle, its summary does not fit its cases, there is not one case.
    pub doubts: Vec<String>,
}

impl Case {
    /// One that ended so, and nothing else is known.
    pub fn new(case_id: impl Into<String>, status: Status) -> Self {
        Case {
            case_id: case_id.into(),
            status,
            duration_ms: None,
            message: String::new(),
            location: None,
            stack: Vec::new(),
            artifacts: Vec::new(),
        }
    }
}
