//! Zephyr's test console output: `START - name`, ` PASS - name in 0.1 seconds`, a summary per suite, and the result
//! of the project's execution.
//!
//! Older versions print no times and no summary. With `CONFIG_ZTEST_VERBOSE_OUTPUT=n`, only the summary is printed. A
//! test may reboot the board: then suites run again from the beginning, and the last output counts.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, add_line, first_place, form, ms_of_seconds},
};

/// The largest number of cases that are created from a suite's totals alone.
const UNNAMED_MAX: usize = 10_000;

/// Parses the console output.
pub(super) fn parse(text: &str) -> Parsed {
    let lines = lines(text);
    let mut reader = Ztest::default();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

#[derive(Default)]
struct Ztest {
    reading: ParserState,
    suite: String,
    said: String,
    /// The results of cases in the summary, by id.
    listed: Vec<(String, Status)>,
    /// The summary of each suite, by name.
    totals: BTreeMap<String, Totals>,
    /// The number of boots of the board.
    boots: usize,
    /// Cases that began or ended before the last boot.
    before_boot: BTreeSet<String>,
    this_boot: BTreeSet<String>,
    /// The last verdict that the program printed.
    is_successful: Option<bool>,
}

/// The totals of one suite.
#[derive(Clone, Copy, Default)]
struct Totals {
    passed: usize,
    failed: usize,
    skipped: usize,
    total: usize,
    /// The number of the boot to which the totals belong.
    boot: usize,
}

fn status(word: &str) -> Status {
    match word {
        "PASS" => Status::Passed,
        "SKIP" => Status::Skipped,
        _ => Status::Failed,
    }
}

impl Ztest {
    fn line(&mut self, at: usize, line: &Line) {
        let text = line.text.as_str();
        let suite = form!(r"Running (?:TESTSUITE|test suite) (\S+)").and_then(|form| form.captures(text));
        let is_used = if let Some(suite) = suite {
            self.suite = suite[1].to_owned();
            true
        } else {
            self.begin(at, text) || self.case(at, text) || self.listed(text) || self.totals(text) || self.end(text)
        };
        if is_used {
            self.reading.claim(at, 0..text.len());
        } else {
            self.boot(text);
            add_line(&mut self.said, text);
        }
    }

    fn id(&self, name: &str) -> String {
        if self.suite.is_empty() { name.to_owned() } else { format!("{}.{name}", self.suite) }
    }

    /// Handles a boot of the board: cases that ran before it may run again.
    fn boot(&mut self, text: &str) {
        if text.contains("*** Booting Zephyr OS") || text.contains("***** Booting Zephyr") {
            self.boots += 1;
            self.before_boot.append(&mut self.this_boot);
            self.is_successful = None;
            self.suite.clear();
        }
    }

    fn begin(&mut self, at: usize, text: &str) -> bool {
        let form = form!(r"\bSTART - (\w+)|^[Ss]tarting test - (\w+)");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        self.said.clear();
        let id = self.id(found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str()));
        match self.before_boot.remove(&id) {
            true => self.reading.begin_again(at, "", &id),
            false => self.reading.begin(at, "", &id),
        }
        self.this_boot.insert(id);
        true
    }

    fn case(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"(?:^|\W)(?P<status>PASS|FAIL|SKIP) - (?P<name>\w+)(?:(?:\.\S+)? in (?P<seconds>[\d.]+) seconds|\.?$)"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let status = status(&found["status"]);
        let id = self.id(&found["name"]);
        let said = std::mem::take(&mut self.said);
        let case = match self.before_boot.remove(&id) {
            true => self.reading.again(at, "", &id, status),
            false => self.reading.end(at, "", &id, status),
        };
        case.duration_ms = found.name("seconds").and_then(|seconds| ms_of_seconds(seconds.as_str()));
        if status == Status::Failed {
            case.location = first_place(&said);
            case.message = said;
        }
        self.this_boot.insert(id);
        true
    }

    fn listed(&mut self, text: &str) -> bool {
        let form = form!(r"^ - (?P<status>PASS|FAIL|SKIP) - \[(?P<id>[\w.]+)\] duration = [\d.]+ seconds");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        self.listed.push((found["id"].to_owned(), status(&found["status"])));
        true
    }

    fn totals(&mut self, text: &str) -> bool {
        let form = form!(
            r"SUITE (?P<status>PASS|FAIL|SKIP) - +[\d.]+% \[(?P<suite>[^\]]*)\]: pass = (?P<pass>\d+), fail = (?P<fail>\d+), skip = (?P<skip>\d+), total = (?P<total>\d+)"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let number = |name: &str| found[name].parse().unwrap_or(usize::MAX);
        let boot = self.boots;
        let own = self.totals.entry(found["suite"].to_owned()).or_default();
        // A summary after another boot replaces the earlier one.
        let before = if own.boot == boot { *own } else { Totals::default() };
        *own = Totals {
            passed: before.passed.saturating_add(number("pass")),
            failed: before.failed.saturating_add(number("fail")),
            skipped: before.skipped.saturating_add(number("skip")),
            total: before.total.saturating_add(number("total")),
            boot,
        };
        if &found["status"] == "FAIL" {
            self.reading.fail(format!("the suite {} failed", &found["suite"]));
        }
        true
    }

    fn end(&mut self, text: &str) -> bool {
        if let Some(found) = form!(r"PROJECT EXECUTION (SUCCESSFUL|FAILED)").and_then(|form| form.captures(text)) {
            // After a failure, only another boot can lead to success.
            let is_successful = &found[1] == "SUCCESSFUL" && self.is_successful != Some(false);
            self.is_successful = Some(is_successful);
            return true;
        }
        let form = form!(r"^(?:TESTSUITE|Test suite) (\S+) (succeeded|failed)");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        if &found[2] == "failed" {
            self.reading.fail(format!("the suite {} failed", &found[1]));
        }
        true
    }

    /// Takes results from the summary that other output made unreadable or that were never printed.
    fn take_from_summary(&mut self) {
        let mut taken = BTreeSet::new();
        for (id, status) in std::mem::take(&mut self.listed) {
            match self.reading.found.iter().find(|found| found.case.case_id == id).map(|found| found.case.status) {
                Some(Status::Missing) | None => {
                    self.reading.end(0, "", &id, status);
                    self.reading.notes.push(format!("the result of {id} is taken from the summary"));
                    taken.insert(id);
                }
                // After another boot, the summary is printed again.
                Some(before) if before != status && self.boots > 1 && taken.contains(&id) => {
                    self.reading.again(0, "", &id, status);
                }
                Some(before) if before != status => {
                    self.reading.doubt(format!("{id} {} and is {} in the summary", before.name(), status.name()));
                }
                Some(_) => {}
            }
        }
    }

    /// Creates unnamed cases for suites that print only totals.
    fn take_from_totals(&mut self) {
        for (suite, totals) in &self.totals {
            let of_suite = format!("{suite}.");
            let is_known = self.reading.found.iter().any(|found| found.case.case_id.starts_with(&of_suite));
            if is_known || totals.total > UNNAMED_MAX {
                continue;
            }
            let bad = std::iter::repeat_n(Status::Failed, totals.failed.min(totals.total));
            let left_out = std::iter::repeat_n(Status::Skipped, totals.skipped.min(totals.total));
            let statuses =
                bad.chain(left_out).chain(std::iter::repeat_n(Status::Passed, totals.passed.min(totals.total)));
            for (index, status) in statuses.enumerate() {
                self.reading.end(0, "", &format!("{suite}.{}", index + 1), status);
            }
            self.reading.notes.push(format!("the cases of {suite} have no names, only totals"));
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        self.take_from_summary();
        self.take_from_totals();
        for totals in self.totals.values() {
            self.reading.sum_up(totals.total, totals.failed);
        }
        match self.is_successful {
            None => self.reading.doubt("nothing says how the project's execution ended"),
            Some(false) => self.reading.fail("the project's execution failed (PROJECT EXECUTION FAILED)"),
            Some(true) => {}
        }
        self.reading.fail_on(lines, form!(r"(?:^|\W)FAIL - \w|PROJECT EXECUTION FAILED|^FAIL - \w+@\d+"));
        self.reading.finish(lines)
    }
}
