//! Counts the cases of a log by name, whatever frameworks wrote it.
//!
//! The parsers of single formats decide whether a run passed. A census answers another question: which cases ran, so that
//! two runs of the same command can be compared. So it reads every line by every row of a table and never fails. It
//! believes what the log prints; who can make the log lie is the caller's concern.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::{Captures, Regex};

use crate::Status;

/// The cases of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Census {
    /// The named cases. A name that occurs several times has a number from the second time on.
    pub cases: BTreeMap<String, Status>,
    /// The cases that ran, by the totals of the frameworks, added up; `None` if the log has no total.
    pub ran: Option<u64>,
    /// The cases that passed, by the same totals.
    pub passed: Option<u64>,
}

impl Census {
    /// Reads a log.
    pub fn of(log: &str) -> Self {
        let mut census = Census::default();
        for line in log.lines().map(without_colours) {
            let line = line.trim_end();
            if let Some((name, status)) = named(line) {
                census.count(name, status);
            }
            if let Some((ran, passed)) = total(line) {
                census.ran = Some(census.ran.unwrap_or(0) + ran);
                census.passed = Some(census.passed.unwrap_or(0) + passed);
            }
            if let Some((failed, skipped)) = amended(line) {
                census.ran = census.ran.map(|ran| ran.saturating_sub(skipped));
                census.passed = census.passed.map(|passed| passed.saturating_sub(failed + skipped));
            }
        }
        census
    }

    /// Adds one case. A framework that prints a case twice with the same result (in its progress and in its summary) has
    /// run it once if its names hold a path.
    fn count(&mut self, name: String, status: Status) {
        let is_unique = name.contains("::") && name.contains(".py");
        match self.cases.get(&name) {
            None => drop(self.cases.insert(name, status)),
            Some(Status::Passed) if is_unique => drop(self.cases.insert(name, status)),
            Some(_) if is_unique => {}
            Some(_) => {
                let free = (2..).map(|number| format!("{name} #{number}")).find(|name| !self.cases.contains_key(name));
                free.map(|name| self.cases.insert(name, status));
            }
        }
    }

    /// The number of cases that passed: by the totals, or else by the names.
    pub fn passed(&self) -> u64 {
        let named = self.cases.values().filter(|status| **status == Status::Passed).count() as u64;
        self.passed.unwrap_or(named).max(named)
    }

    /// The number of cases that failed: by the totals or by the names, whichever is higher. Lines can be missing from a log.
    pub fn failed(&self) -> u64 {
        let named = self.cases.values().filter(|status| **status == Status::Failed).count() as u64;
        let missing = self.ran.unwrap_or(0).saturating_sub(self.passed.unwrap_or(0));
        missing.max(named)
    }

    /// Returns true if the log tells how many cases ran.
    pub fn is_readable(&self) -> bool {
        !self.cases.is_empty() || self.ran.is_some()
    }
}

/// Rows for lines with one case: the groups `name` and `status`, and a status for rows without that group.
const NAMED: &[(&str, Option<Status>)] = &[
    // pytest: the short summary (`-rA`), and the lines of `-v`.
    (r"^(?P<status>PASSED|FAILED|ERROR|XFAIL|XPASS) (?P<name>\S+\.py(?:::\S.*?)?)(?: - .*)?$", None),
    (r"^(?P<name>\S+\.py::\S.*?) (?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", None),
    // unittest -v
    (
        r"^(?P<name>\w+ \([\w.]+\))(?: \.\.\.|\n?.* \.\.\.) (?P<status>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b",
        None,
    ),
    // cargo test
    (r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<status>ok|FAILED|ignored)\b", None),
    // cargo-nextest
    (r"^\s+(?P<status>PASS|FAIL|SIGABRT|SIGSEGV|TIMEOUT|FLAKY) \[[^\]]*\](?:\s+\([^)]*\))?\s+(?P<name>\S.*)$", None),
    // go test -v
    (r"^\s*--- (?P<status>PASS|FAIL|SKIP): (?P<name>\S+)", None),
    // TAP
    (
        r"^\s*(?P<status>not ok|ok) \d+(?: -)? (?P<name>[^#]*?)(?:\s+# (?P<directive>SKIP|TODO|skip|todo).*)?(?:\s+# time.*)?$",
        None,
    ),
    // mocha, jest, vitest, the spec reporter of node
    (r"^\s*[✓✔√] (?P<name>\S.*?)(?: \([\d.]+ ?m?s\))?(?: [\d.]+ ?ms)?$", Some(Status::Passed)),
    (r"^\s*[✕✖×✗] (?P<name>\S.*?)(?: \([\d.]+ ?m?s\))?(?: [\d.]+ ?ms)?$", Some(Status::Failed)),
    (r"^\s*[○﹣↓] (?:skipped )?(?P<name>\S.*?)(?: # SKIP)?$", Some(Status::Skipped)),
    // CTest
    (r"^\s*\d+/\d+ Test\s+#\d+: (?P<name>\S+) \.*\s*(?P<status>Passed|\*\*\*\w+)", None),
    // GoogleTest
    (r"^\[ +(?P<status>OK|FAILED|SKIPPED) +\] (?P<name>[\w/.]+\.[\w/.]+)(?:, where.*)?(?: \(\d+ ms\))$", None),
    // Unity
    (r"^[^:\s]+:\d+:(?P<name>\w+):(?P<status>PASS|FAIL|IGNORE)\b", None),
    // Gradle
    (r"^(?P<name>\S+ > .+?) (?P<status>PASSED|FAILED|SKIPPED)$", None),
    // dotnet test
    (r"^\s+(?P<status>Passed|Failed|Skipped) (?P<name>\S.*?) \[[^\]]+\]$", None),
];

/// Rows for totals: the groups `passed`, `failed`, `skipped` and `ran`. Skipped cases did not run.
const TOTALS: &[&str] = &[
    // pytest
    r"^=* ?(?:(?P<failed>\d+) failed,? ?)?(?:(?P<passed>\d+) passed)?(?:,? ?\d+ \w+)*(?:, \d+ \w+)* in [\d.]+s(?: \([\d:]+\))? ?=*$",
    r"^=* ?no tests ran in [\d.]+s ?=*(?P<passed>)$",
    // unittest
    r"^Ran (?P<ran>\d+) tests? in [\d.]+s$",
    // cargo test
    r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;",
    // cargo-nextest
    r"^\s+Summary \[[^\]]*\]\s+(?P<ran>\d+)(?:/\d+)? tests? run: (?P<passed>\d+) passed",
    // node, tape and other TAP producers
    r"^# pass +(?P<passed>\d+)$",
    r"^ℹ pass (?P<passed>\d+)$",
    // mocha
    r"^\s+(?P<passed>\d+) passing \([\d.]+m?s\)$",
    // jest, vitest
    r"^Tests:\s+(?:(?P<failed>\d+) failed, )?(?:\d+ (?:skipped|todo), )*(?:(?P<passed>\d+) passed, )?\d+ total$",
    r"^\s+Tests\s+(?:(?P<failed>\d+) failed \| )?(?P<passed>\d+) passed(?: \| .*)? \(\d+\)$",
    // CTest, GoogleTest, Unity
    r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<ran>\d+)$",
    r"^\[=+\] (?P<ran>\d+) tests? from \d+ test (?:suites?|cases?) ran\.",
    r"^(?P<ran>\d+) Tests (?P<failed>\d+) Failures \d+ Ignored",
    // dart and flutter
    r"^\d+:\d+ \+(?P<passed>\d+)(?: ~\d+)?(?: -(?P<failed>\d+))?: (?:All tests passed!|Some tests failed\.)$",
    // Maven Surefire: the line without a class is the sum.
    r"^(?:\[\w+\] )?Tests run: (?P<ran>\d+), Failures: (?P<failed>\d+), Errors: \d+, Skipped: \d+$",
    // dotnet test
    r"^(?:Passed|Failed)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+),",
    // RSpec, ExUnit, PHPUnit, minitest, prove, busted
    r"^(?P<ran>\d+) (?:examples?|tests?|doctests?, \d+ tests?), (?P<failed>\d+) failures?",
    r"^OK \((?P<ran>\d+) tests?, \d+ assertions?\)",
    r"^Tests: (?P<ran>\d+), Assertions: \d+, .*Failures: (?P<failed>\d+)",
    r"^(?P<ran>\d+) runs, \d+ assertions, (?P<failed>\d+) failures",
    r"^Files=\d+, Tests=(?P<ran>\d+),",
    // doctest -v
    r"^(?P<passed>\d+) passed(?: and (?P<failed>\d+) failed)?\.$",
    // Many small runners.
    r"^(?:\w+: )?(?P<passed>\d+) passed[,;] (?P<failed>\d+) failed\b",
    r"^(?:\w+: )?(?P<failed>\d+) failed[,;] (?P<passed>\d+) passed\b",
];

fn rows<T: Copy>(table: impl Iterator<Item = (&'static str, T)>) -> Vec<(Regex, T)> {
    table.filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, with))).collect()
}

static NAMED_ROWS: LazyLock<Vec<(Regex, Option<Status>)>> = LazyLock::new(|| rows(NAMED.iter().copied()));
static TOTAL_ROWS: LazyLock<Vec<(Regex, ())>> = LazyLock::new(|| rows(TOTALS.iter().map(|pattern| (*pattern, ()))));

fn named(line: &str) -> Option<(String, Status)> {
    NAMED_ROWS.iter().find_map(|(pattern, fixed)| {
        let found = pattern.captures(line)?;
        let status = match (found.name("directive"), fixed) {
            (Some(_), _) => Status::Skipped,
            (None, Some(fixed)) => *fixed,
            (None, None) => status(found.name("status")?.as_str()),
        };
        let name = stable(found.name("name")?.as_str().trim());
        (!name.is_empty()).then_some((name, status))
    })
}

fn status(word: &str) -> Status {
    match word {
        "PASSED" | "XPASS" | "ok" | "PASS" | "FLAKY" | "OK" | "Passed" => Status::Passed,
        "SKIPPED" | "XFAIL" | "skipped" | "expected failure" | "ignored" | "SKIP" | "IGNORE" | "Skipped" => {
            Status::Skipped
        }
        _ => Status::Failed,
    }
}

/// Removes what changes with every edit from a name: the line of a documentation test.
fn stable(name: &str) -> String {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r" \(line \d+\)").ok());
    LINE.as_ref().map_or_else(|| name.to_owned(), |line| line.replace(name, "").into_owned())
}

/// Returns how many cases ran and passed, if the line is a total.
fn total(line: &str) -> Option<(u64, u64)> {
    TOTAL_ROWS.iter().find_map(|(pattern, ())| {
        let found = pattern.captures(line)?;
        let number = |name: &str| number(&found, name);
        let failed = number("failed").unwrap_or(0);
        match (number("ran"), number("passed")) {
            (Some(ran), Some(passed)) => Some((ran, passed)),
            (Some(ran), None) => Some((ran, ran.saturating_sub(failed))),
            (None, passed) => Some((passed.unwrap_or(0) + failed, passed.unwrap_or(0))),
        }
    })
}

/// Returns how many cases of the total before failed and were skipped. unittest says it on a line of its own:
/// `FAILED (failures=1, errors=2, skipped=3)`.
fn amended(line: &str) -> Option<(u64, u64)> {
    let inner = line.strip_prefix("FAILED (").or_else(|| line.strip_prefix("OK ("))?.strip_suffix(')')?;
    let (mut failed, mut skipped) = (0, 0);
    for part in inner.split(", ") {
        let (what, count) = part.split_once('=')?;
        match what {
            "skipped" => skipped += count.parse::<u64>().ok()?,
            "failures" | "errors" | "unexpected successes" => failed += count.parse::<u64>().ok()?,
            _ => {}
        }
    }
    Some((failed, skipped))
}

fn number(found: &Captures<'_>, name: &str) -> Option<u64> {
    found.name(name)?.as_str().parse().ok()
}

/// Removes escape sequences of terminals.
fn without_colours(line: &str) -> String {
    static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\x1b\[[0-9;]*[A-Za-z]").ok());
    ESCAPE.as_ref().map_or_else(|| line.to_owned(), |escape| escape.replace_all(line, "").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, cases: &str, ran: Option<u64>, passed: u64) {
        let census = Census::of(log);
        let found: Vec<String> =
            census.cases.iter().map(|(name, status)| format!("{name}={}", status.name())).collect();
        assert_eq!((found.join(", ").as_str(), census.ran, census.passed()), (cases, ran, passed), "{log}");
    }

    #[test]
    fn every_pattern_is_valid() {
        assert_eq!((NAMED_ROWS.len(), TOTAL_ROWS.len()), (NAMED.len(), TOTALS.len()));
    }

    #[test]
    fn failed_cases_are_counted_by_totals_and_by_names() {
        for (log, failed) in [
            ("1 failed, 4 passed in 0.10s", 1),
            ("1 failed, 4 passed", 1),
            ("3 passed, 2 failed", 2),
            ("ok 1 - a\nnot ok 2 - b\n# pass 1", 1),
            ("not ok 1 - a # TODO later", 0),
            ("5 passed in 0.1s", 0),
            ("nothing to see", 0),
        ] {
            assert_eq!(Census::of(log).failed(), failed, "{log}");
        }
    }

    #[test]
    fn cases_of_many_frameworks_are_counted() {
        check(
            "..\nPASSED t/test_a.py::test_x\nFAILED t/test_a.py::test_y - assert 1\n1 failed, 1 passed in 0.02s\n",
            "t/test_a.py::test_x=passed, t/test_a.py::test_y=failed",
            Some(2),
            1,
        );
        check("===== 82 passed, 1 skipped in 0.12s =====", "", Some(82), 82);
        check("no tests ran in 0.00s", "", Some(0), 0);
        check(
            "test_x (tests.test_a.T.test_x) ... ok\n\nRan 3 tests in 0.001s\n\nOK\n",
            "test_x (tests.test_a.T.test_x)=passed",
            Some(3),
            3,
        );
        check("Ran 0 tests in 0.000s\n\nNO TESTS RAN", "", Some(0), 0);
        check("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)", "", Some(4), 2);
        check("Ran 3 tests in 0.001s\n\nOK (skipped=2)", "", Some(1), 1);
        check(
            "test tests::adds ... ok\ntest src/lib.rs - add (line 3) ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\ntest result: ok. 1 passed; 0 failed; 0 ignored",
            "src/lib.rs - add=passed, tests::adds=passed",
            Some(2),
            2,
        );
        check(
            "        PASS [   0.004s] (1/1) demo::all adds\n     Summary [   0.1s] 1 test run: 1 passed, 0 skipped",
            "demo::all adds=passed",
            Some(1),
            1,
        );
        check(
            "=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\n    --- SKIP: TestAdd/slow (0.00s)\nok  \tdemo\t0.001s",
            "TestAdd=passed, TestAdd/slow=skipped",
            None,
            1,
        );
        check(
            "TAP version 13\nok 1 - adds\nnot ok 2 - divides\nok 3 - later # SKIP\n1..3\n# tests 3\n# pass 1\n# fail 1",
            "adds=passed, divides=failed, later=skipped",
            Some(1),
            1,
        );
        check("  ✔ adds\n  ✔ adds (3ms)\n\n  2 passing (5ms)\n", "adds=passed, adds #2=passed", Some(2), 2);
        check("Tests:       1 failed, 3 passed, 4 total", "", Some(4), 3);
        check("      Tests  3 passed (3)", "", Some(3), 3);
        check(
            "1/2 Test #1: add ......   Passed    0.01 sec\n100% tests passed, 0 tests failed out of 2",
            "add=passed",
            Some(2),
            2,
        );
        check(
            "[       OK ] Add.two (0 ms)\n[==========] 1 test from 1 test suite ran. (0 ms total)",
            "Add.two=passed",
            Some(1),
            1,
        );
        check("a.c:3:test_add:PASS\n1 Tests 0 Failures 0 Ignored", "test_add=passed", Some(1), 1);
        check("hello\nall good\n", "", None, 0);
    }
}
