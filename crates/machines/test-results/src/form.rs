//! The common form of test results.

use serde::{Deserialize, Serialize};

/// The status of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The case ran and passed.
    Passed,
    /// The case ran and failed.
    Failed,
    /// The case was skipped.
    Skipped,
    /// The case exceeded its time limit.
    Timeout,
    /// The case crashed the program.
    Crashed,
    /// The case was announced and never reported.
    Missing,
}

/// The message of a case of which only the number is known.
pub(super) const NAMELESS: &str = "it was announced by its number";

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case's name, unique within a run.
    pub case_id: String,
    /// The status at the end of the case.
    pub status: Status,
    /// The duration of the case, if reported.
    pub duration_ms: Option<u64>,
    /// The message of the case, or empty.
    pub message: String,
    /// The place of the failure, if known.
    pub location: Option<Location>,
    /// The call stack, innermost frame first.
    pub stack: Vec<String>,
    /// Files that belong to the case.
    pub artifacts: Vec<String>,
}

/// A location in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    /// The file as the output names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A case whose result was not the same every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flaky {
    /// The name of the case.
    pub case_id: String,
    /// The status of each attempt, in order.
    pub statuses: Vec<Status>,
}

/// The test results that a text contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parsed {
    /// Every case, once; announced cases that were never reported are `missing`.
    pub cases: Vec<CaseResult>,
    /// The number of announced cases, from a plan or a count at the start.
    pub announced: Option<usize>,
    /// The total and the failed cases that the final summary counts.
    pub summary: Option<(usize, usize)>,
    /// The case that was running when the text ended; it is `missing` among the cases.
    pub running: Option<String>,
    /// Statements of the framework or its driver that the run failed, if no failed case explains them.
    #[serde(default)]
    pub failures: Vec<String>,
    /// Cases that the framework ran several times with different results.
    #[serde(default)]
    pub flaky: Vec<Flaky>,
    /// Lines that report a fault at any place; lines that belong to a result do not count.
    pub faults: Vec<String>,
    /// Reasons not to trust the result: the text ends early, the summary does not match the cases, or there is no
    /// case at all.
    pub doubts: Vec<String>,
    /// Notes that are no reason for doubt: renamed duplicates, the detected format.
    pub notes: Vec<String>,
}

impl Status {
    /// Reports whether the status counts against the firmware.
    pub fn is_bad(self) -> bool {
        matches!(self, Status::Failed | Status::Timeout | Status::Crashed)
    }

    /// Returns the name of the status as it is serialized.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Timeout => "timeout",
            Status::Crashed => "crashed",
            Status::Missing => "missing",
        }
    }
}

impl CaseResult {
    /// Creates a case with a status and no details.
    pub fn new(case_id: impl Into<String>, status: Status) -> Self {
        CaseResult {
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

impl Parsed {
    /// Appends another text of the same start. A name that occurs in both gets a number.
    pub(super) fn add(&mut self, other: Parsed) {
        self.announced = self.announced.into_iter().chain(other.announced).reduce(usize::saturating_add);
        self.summary = match (self.summary, other.summary) {
            (Some((total, failed)), Some((more, failed_more))) => {
                Some((total.saturating_add(more), failed.saturating_add(failed_more)))
            }
            (one, another) => one.or(another),
        };
        self.running = other.running.or(self.running.take());
        let first = self.cases.len();
        self.cases.extend(other.cases);
        let before: Vec<String> = self.cases.iter().map(|case| case.case_id.clone()).collect();
        super::names::make_unique(&mut self.cases, &[], &mut self.notes);
        let renamed = |flaky: Flaky| {
            let place = before.iter().skip(first).position(|id| *id == flaky.case_id);
            let case_id = place.map_or(flaky.case_id, |place| self.cases[first + place].case_id.clone());
            Flaky { case_id, ..flaky }
        };
        self.flaky.extend(other.flaky.into_iter().map(renamed));
        self.failures.extend(other.failures);
        self.faults.extend(other.faults);
        self.doubts.extend(other.doubts);
        self.notes.extend(other.notes);
    }
}
