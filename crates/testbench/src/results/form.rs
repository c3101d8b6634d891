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

/// What is said of a case of which only its number is known.
pub(super) const NAMELESS: &str = "it was announced by its number";

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

/// A case that did not end the same every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flaky {
    /// The case.
    pub case_id: String,
    /// The status of each attempt, in their order.
    pub statuses: Vec<Status>,
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
    /// The case that had begun and not ended where the text ends; it is `missing` among the cases.
    pub running: Option<String>,
    /// Statements of the framework itself, or of the program that ran it, that the run failed, which no failed case explains.
    #[serde(default)]
    pub failures: Vec<String>,
    /// Cases that the framework ran several times with different results.
    #[serde(default)]
    pub flaky: Vec<Flaky>,
    /// Lines that report a fault, wherever they stand; those within the words of a result do not count.
    pub faults: Vec<String>,
    /// Why it cannot be believed as it is: it ends in the middle, its summary does not fit its cases, there is not one case.
    pub doubts: Vec<String>,
    /// What is good to know and no reason for doubt: how names were made unique, what it was read as.
    pub notes: Vec<String>,
}

impl Status {
    /// Whether it counts against the firmware.
    pub fn is_bad(self) -> bool {
        matches!(self, Status::Failed | Status::Timeout | Status::Crashed)
    }

    /// Its name, as it is written.
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

impl Parsed {
    /// Puts another text of the same start behind this one. A name that both have gets a number.
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
