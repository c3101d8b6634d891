//! CTest's console output: `Start 1: name`, `1/7 Test #1: name ....   Passed    0.01 sec`, and a summary in percent.
//!
//! With `--repeat`, a test has several results, and only the last may carry its `1/7`: the others are earlier
//! attempts.
//!
//! CTest reports a missing program as "not run" and omits it from some lists of failures: here it counts as failed.

use std::collections::BTreeSet;

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, add_line, form, ms_of_seconds},
};

/// Parses the console output.
pub(super) fn parse(text: &str) -> Parsed {
    let lines = lines(text);
    let mut reader = Ctest::default();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

/// Returns the status of a case from CTest's text behind the dots.
pub(super) fn status(what: &str) -> Status {
    match what {
        _ if what.starts_with("Passed") => Status::Passed,
        _ if what.contains("Timeout") => Status::Timeout,
        _ if what.contains("Exception") || what.contains("Subprocess") || what.contains("SEGFAULT") => Status::Crashed,
        _ if what.contains("Disabled") || what.contains("Skipped") => Status::Skipped,
        _ => Status::Failed,
    }
}

#[derive(Default)]
struct Ctest {
    reading: ParserState,
    /// The number of disabled tests; the summary does not count them.
    disabled: usize,
    /// The numbers of the tests that have a result.
    reported: BTreeSet<String>,
    /// True if an attempt at a test failed, even if another one passed.
    has_failed: bool,
    /// The failed case whose output follows, and the line of its result.
    about: Option<(usize, String)>,
}

impl Ctest {
    fn line(&mut self, at: usize, line: &Line) {
        let text = &line.text;
        let start = form!(r"^\s*Start\s+(?P<number>\d+): (?P<name>.+)$").and_then(|form| form.captures(text));
        if let Some(found) = start {
            match self.reported.contains(&found["number"]) {
                true => self.reading.begin_again(at, "", found["name"].trim()),
                false => self.reading.begin(at, "", found["name"].trim()),
            }
            self.reading.claim(at, 0..text.len());
            self.stop_telling(at);
        } else if text.starts_with("Test project ") {
            // Another invocation of CTest numbers its tests from the beginning.
            self.reported.clear();
        } else if !self.case(at, text) && !self.summary(at, text) {
            self.tell(text);
        }
    }

    fn case(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^\s*(?:\d+/(?P<of>\d+)\s+)?Test\s+#(?P<number>\d+): (?P<name>.+?) \.*\s*(?P<what>Passed\s+[\d.]+ sec|[^.*]*\*\*\*.*)$"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let what = &found["what"];
        self.stop_telling(at);
        self.reading.announced = found.name("of").and_then(|of| of.as_str().parse().ok()).or(self.reading.announced);
        let status = status(what);
        self.has_failed |= status.is_bad();
        let is_first = self.reported.insert(found["number"].to_owned());
        self.disabled += usize::from(is_first && what.contains("Disabled"));
        let case = match is_first {
            true => self.reading.end(at, "", &found["name"], status),
            false => self.reading.again(at, "", &found["name"], status),
        };
        let seconds = form!(r"([\d.]+) sec$").and_then(|form| form.captures(what));
        case.duration_ms = seconds.as_ref().and_then(|seconds| ms_of_seconds(&seconds[1]));
        if status != Status::Passed {
            let end = seconds.and_then(|seconds| seconds.get(0)).map_or(what.len(), |all| all.start());
            case.message = what[..end].replace("***", " ").trim().trim_end_matches(':').to_owned();
            self.about = Some((at, found["name"].to_owned()));
        }
        self.reading.claim(at, 0..text.len());
        true
    }

    /// The lines after a failed case are its output.
    fn tell(&mut self, text: &str) {
        if let Some((_, name)) = &self.about
            && let Some(case) = self.reading.case(name)
        {
            add_line(&mut case.message, text);
            case.location = case.location.take().or_else(|| super::reading::first_place(text));
        }
    }

    fn stop_telling(&mut self, at: usize) {
        if let Some((from, _)) = self.about.take() {
            self.reading.about_cases(from..at);
        }
    }

    fn summary(&mut self, at: usize, text: &str) -> bool {
        let form = form!(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)$");
        let Some(found) = form.and_then(|form| form.captures(text)) else {
            return text.starts_with("The following tests");
        };
        let number = |name: &str| found[name].parse().unwrap_or(usize::MAX);
        self.stop_telling(at);
        self.reading.sum_up(number("total").saturating_add(self.disabled), number("failed"));
        self.reading.claim(at, 0..text.len());
        true
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        if self.reading.summary.is_none() {
            self.reading.doubt("there is no summary (N% tests passed)");
        } else if !lines.iter().any(|line| line.text.starts_with("Total Test time")) {
            self.reading.doubt("it ends before the total test time");
        }
        let says_failed = form!(
            r"^Errors while running CTest|^The following tests (?:FAILED|did not run)|^CMake Error|% tests passed, [1-9]\d* tests? failed"
        );
        self.reading.fail_on(lines, says_failed);
        if !self.has_failed {
            self.reading.fail_on(lines, form!(r"\*\*\*(?:Failed|Timeout|Exception|Not Run)"));
        }
        self.reading.finish(lines)
    }
}
