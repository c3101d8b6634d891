//! The log of a failed command: the tests that failed in it, and the failure that the rules for logs find.

use interlock_activity::Attempt;
use interlock_journal::Evidence;
use interlock_test_results::{Census, Format, Status};
use interlock_triage::{Finding, classify};

/// The most bytes of a stream that are read, from its end.
const LOG_BYTES_MAX: usize = 1024 * 1024;

/// The most failed tests that are named.
const FAILING_MAX: usize = 20;

/// The most characters of a summary.
const SUMMARY_CHARS_MAX: usize = 300;

/// The most places that are named.
const PLACES_MAX: usize = 10;

/// A place in the sources that a log complains about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The source file, as the log names it.
    pub file: String,
    /// The line of that file, if the log names it.
    pub line: Option<u32>,
    /// The complaint.
    pub message: String,
}

/// The numbers of tests that a log reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The tests that failed.
    pub failed: u64,
    /// The tests that passed.
    pub passed: u64,
}

/// Returns the numbers of tests that a log reports; `None` if it shows no test.
pub fn reported(log: &str) -> Option<Reported> {
    let census = Census::of(log);
    census.is_readable().then(|| Reported { failed: census.failed(), passed: census.passed() })
}

/// The log of a command.
#[derive(Debug)]
pub struct Log {
    /// Standard output and standard error, one after the other.
    pub text: String,
    /// The names of the tests that failed.
    pub failing: Vec<String>,
    /// The hashes of the streams.
    pub evidence: Vec<String>,
    /// The failures that rules find in it, nearest to the cause first.
    pub findings: Vec<Finding>,
}

impl Log {
    /// Reads the streams that a command left.
    pub fn of(attempt: &Attempt, kept: &[Evidence]) -> Self {
        let streams: Vec<&Evidence> =
            kept.iter().filter(|kept| kept.name.contains("stdout") || kept.name.contains("stderr")).collect();
        let text: String = streams.iter().filter_map(|stream| tail(attempt, stream)).collect();
        let evidence = streams.iter().map(|stream| stream.hash.to_string()).collect();
        Log { failing: failing(&text), findings: classify(&text), text, evidence }
    }

    /// Summarizes the failure in one line: the failed tests, else the finding of the rules, else the last line.
    pub fn summary(&self) -> String {
        let summary = match &self.failing[..] {
            [] => self.finding().or_else(|| self.last_line()).unwrap_or_else(|| "it printed nothing".to_owned()),
            [only] => format!("the test {only} failed"),
            [first, rest @ ..] => format!("the test {first} failed, and {} more", rest.len()),
        };
        summary.chars().take(SUMMARY_CHARS_MAX).collect()
    }

    /// Counts the tests that passed and those that did not; `None` if the log shows no test.
    pub fn counts(&self) -> Option<(usize, usize)> {
        let cases = interlock_test_results::parse(&Format::Auto, &self.text).cases;
        let count = |is: fn(&Status) -> bool| cases.iter().filter(|case| is(&case.status)).count();
        let passed = count(|status| matches!(status, Status::Passed));
        let skipped = count(|status| matches!(status, Status::Skipped));
        (!cases.is_empty()).then(|| (passed, cases.len() - passed - skipped))
    }

    /// Returns the places that the rules for logs find, nearest to the cause first.
    pub fn places(&self) -> Vec<Place> {
        let place = |found: Finding| Some(Place { file: found.file?, line: found.line, message: found.cause });
        self.findings.iter().cloned().filter_map(place).take(PLACES_MAX).collect()
    }

    /// Returns the end of the log, at most this many characters.
    pub fn end(&self, chars_max: usize) -> String {
        let skip = self.text.chars().count().saturating_sub(chars_max);
        self.text.chars().skip(skip).collect()
    }

    pub(crate) fn with_line(mut self, line: &str) -> Self {
        self.text = format!("{}\n{line}\n", self.text);
        self
    }

    fn finding(&self) -> Option<String> {
        let found = self.findings.first()?;
        let place = found.place_beside_cause().map(|place| format!(" ({place})")).unwrap_or_default();
        Some(format!("{}{place}", found.cause))
    }

    fn last_line(&self) -> Option<String> {
        self.text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

fn tail(attempt: &Attempt, stream: &Evidence) -> Option<String> {
    let content = attempt.evidence.get(&stream.hash).ok()?;
    let end = &content[content.len().saturating_sub(LOG_BYTES_MAX)..];
    let text = String::from_utf8_lossy(end).into_owned();
    Some(if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" })
}

fn failing(text: &str) -> Vec<String> {
    let parsed = interlock_test_results::parse(&Format::Auto, text);
    let failed = parsed.cases.into_iter().filter(|case| matches!(case.status, Status::Failed));
    failed.map(|case| case.case_id).take(FAILING_MAX).collect()
}
