//! GoogleTest's console output: every case begins with `[ RUN      ]` and ends with `[       OK ]`, `[  FAILED  ]` or
//! `[  SKIPPED ]`.
//!
//! The setup of a suite or of the whole program can fail without a case: the list at the end, or an assertion outside
//! of every case, reports that.

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, add_line, form, place},
};

/// Parses the console output.
pub(super) fn parse(text: &str) -> Parsed {
    let lines = lines(text);
    let mut reader = Gtest::default();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

#[derive(Default)]
struct Gtest {
    reading: ParserState,
    /// The number of tests that ran, set by the line with the total and taken by the line that counts the passed
    /// ones.
    ran: Option<usize>,
    /// True while the list of failed tests is read.
    is_over: bool,
    /// The number of disabled tests; the framework's counts omit them.
    disabled: usize,
    /// The output since the case began.
    said: String,
}

impl Gtest {
    fn line(&mut self, at: usize, line: &Line) {
        let form = form!(
            r"\[(?P<tag> RUN      |       OK |  FAILED  |  SKIPPED | DISABLED |==========|  PASSED  )\] (?P<rest>.*)$"
        );
        let Some(found) = form.and_then(|form| form.captures(&line.text)) else {
            return self.other(at, &line.text);
        };
        let rest = found["rest"].to_owned();
        let is_used = match found["tag"].trim() {
            "RUN" => self.begin(at, &rest),
            "OK" => self.end(at, &rest, Status::Passed),
            "FAILED" if !self.is_over => self.end(at, &rest, Status::Failed),
            "FAILED" => self.counted(at, &rest),
            "SKIPPED" if !self.is_over => self.end(at, &rest, Status::Skipped),
            "DISABLED" => {
                self.disabled += 1;
                self.end(at, &rest, Status::Skipped)
            }
            "PASSED" => self.passed(&rest),
            "==========" => self.bar(&rest),
            _ => false,
        };
        if is_used {
            let start = found.get(0).map_or(0, |all| all.start());
            self.reading.claim(at, start..line.text.len());
        }
    }

    /// Output within a case belongs to it. An assertion outside of every case belongs to a suite or to the program.
    fn other(&mut self, at: usize, text: &str) {
        add_line(&mut self.said, text);
        let is_assertion =
            form!(r"^\S.*?(?::\d+: Failure|\(\d+\): error: .*)$").is_some_and(|form| form.is_match(text));
        if is_assertion && self.reading.open().is_none() {
            let case = self.reading.end_uncounted(at, "outside of every case", Status::Failed);
            case.location = super::reading::first_place(text);
            case.message = text.to_owned();
        }
    }

    fn begin(&mut self, at: usize, rest: &str) -> bool {
        self.said.clear();
        self.is_over = false;
        self.reading.begin(at, "", rest.trim());
        true
    }

    fn end(&mut self, at: usize, rest: &str, status: Status) -> bool {
        let form = form!(r"^(?P<name>\S+?)(?:, where .*?)?(?: \((?P<ms>\d+) ms\))?$");
        let Some(found) = form.and_then(|form| form.captures(rest.trim())) else { return false };
        let said = std::mem::take(&mut self.said);
        let case = self.reading.end(at, "", &found["name"], status);
        case.duration_ms = found.name("ms").and_then(|ms| ms.as_str().parse().ok());
        if status != Status::Passed {
            let about = form!(r"(?m)^(?P<file>\S.*?)[:(](?P<line>\d+)\)?: (?:Failure|Skipped|error).*$");
            if let Some(about) = about.and_then(|form| form.captures(&said)) {
                case.location = place(&about["file"], &about["line"]);
                let start = about.get(0).map_or(0, |all| all.end());
                case.message = said.get(start..).unwrap_or_default().trim().to_owned();
            } else {
                case.message = said;
            }
        }
        true
    }

    fn bar(&mut self, rest: &str) -> bool {
        let form = form!(r"^(?P<run>Running )?(?P<count>\d+) tests? from \d+ test (?:suite|case)s?(?P<ran> ran\.)?");
        let Some(found) = form.and_then(|form| form.captures(rest)) else { return false };
        let count: usize = found["count"].parse().unwrap_or(usize::MAX);
        if found.name("run").is_some() {
            self.reading.announce(count);
        } else if found.name("ran").is_some() {
            self.is_over = true;
            self.ran = Some(count);
        }
        true
    }

    fn passed(&mut self, rest: &str) -> bool {
        let count = form!(r"^(\d+) tests?\.$").and_then(|form| form.captures(rest)).is_some();
        if let Some(total) = self.ran.take().filter(|_| count) {
            self.reading.sum_up(total, 0);
        }
        count
    }

    /// Reads the list of failures: the number of cases, their names, and suites that failed by themselves.
    fn counted(&mut self, at: usize, rest: &str) -> bool {
        if let Some(found) = form!(r"^(\d+) tests?, listed below:$").and_then(|form| form.captures(rest)) {
            self.reading.sum_up(0, found[1].parse().unwrap_or(usize::MAX));
            return true;
        }
        if let Some((suite, what)) = rest.split_once(": ").filter(|(_, what)| what.contains("Test")) {
            self.reading.end_uncounted(at, suite.trim(), Status::Failed).message = what.to_owned();
            return true;
        }
        let name = rest.split([',', ' ']).next().unwrap_or_default();
        let is_known = self.reading.case(name).is_some_and(|case| case.status.is_bad());
        if !is_known {
            self.reading.doubt(format!("{name} is in the list of those that failed, and did not"));
        }
        true
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        self.reading.announced = self.reading.announced.map(|count| count.saturating_add(self.disabled));
        self.reading.summary =
            self.reading.summary.map(|(total, failed)| (total.saturating_add(self.disabled), failed));
        if self.reading.summary.is_none() || self.ran.is_some() {
            self.reading.doubt("there is no summary (N tests from N test suites ran, and how many passed)");
        }
        let says_failed = form!(r"\[  FAILED  \]|^ ?\d+ FAILED TESTS?(?: SUITES?| CASES?)?$|: Failure$");
        self.reading.fail_on(lines, says_failed);
        self.reading.finish(lines)
    }
}
