//! The output of pytest after its cases: failures, warnings, a short summary, and the line with the totals.

use super::{Pytest, Status, form};
use crate::reading::place;

/// The totals of the last line.
pub(super) struct Totals {
    pub(super) total: usize,
    pub(super) passed: usize,
    pub(super) skipped: usize,
    pub(super) failed: usize,
}

/// Lines by which pytest or a plugin reports that the run failed.
pub(super) fn says_failed() -> Option<&'static regex::Regex> {
    form!(
        r"^INTERNALERROR> |^FAIL Required test coverage|^(?:ERROR: )?Coverage failure|^ERROR: |^(?:FAILED|ERROR|SUBFAIL\S*) \S+(?:::| - |$)|::.*\s(?:FAILED|ERROR|SUBFAIL\S*)(?:\s+\[ *\d+%\])?$|^(?:=+ )?(?:.*, )?[1-9]\d* (?:failed|errors?|subtests failed)\b.* in [\d.]+s"
    )
}

/// A line that gives the reason why pytest stopped early.
pub(super) fn interruption() -> Option<&'static regex::Regex> {
    form!(r"^!{3,} (?:.+ )?!{3,}$")
}

impl Pytest {
    /// Recognizes the headings of the sections after the cases.
    pub(super) fn section(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^=+ (?:FAILURES|ERRORS|PASSES|XPASSES|XFAILURES|warnings summary(?: \(.*\))?|short test summary info|rerun test summary info|slowest(?: \d+)? (?:test )?durations|tests coverage|Warnings summary|pytest-warnings? summary) =+$"
        );
        let is_heading = form.is_some_and(|form| form.is_match(text));
        if is_heading {
            self.is_over = true;
            self.is_told_since.get_or_insert(at);
        }
        is_heading
    }

    /// Reads the heading of one failure, and the place at which it was raised.
    pub(super) fn heading(&mut self, text: &str) {
        if let Some(found) = form!(r"^_+ (?:ERROR at \w+ of )?(\S.*?) _+$").and_then(|form| form.captures(text)) {
            self.about = Some(found[1].replace('.', "::"));
        }
        let form = form!(r"^((?:[A-Za-z]:[\\/])?[^\s:]+):(\d+): \w[\w.]*$");
        let raised = form.and_then(|form| form.captures(text));
        if let (Some(raised), Some(about)) = (raised, &self.about) {
            let ending = format!("::{about}");
            let case = self.reading.found.iter_mut().map(|found| &mut found.case);
            if let Some(case) = case.into_iter().find(|case| case.case_id.ends_with(&ending)) {
                case.location = place(&raised[1], &raised[2]);
            }
        }
    }

    /// Parses `FAILED test_ring.py::test_pop - assert 1 == 2`, and files that could not be collected.
    pub(super) fn told(&mut self, text: &str) -> bool {
        let form = form!(
            r"^(?P<status>FAILED|ERROR|PASSED|SKIPPED|XFAIL|XPASS|RERUN|SUBFAIL\S*) (?P<id>[^\s:]+(?:\.\w+)?(?:::.*?)?)(?: - (?P<why>.*))?$"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let why = found.name("why").map_or("", |why| why.as_str());
        let (word, id) = (&found["status"], &found["id"]);
        let is_bad = matches!(word, "FAILED" | "ERROR");
        if let Some(case) = self.reading.case(id) {
            if is_bad || case.message.is_empty() {
                case.message = why.to_owned();
            }
        } else if is_bad && !id.contains("::") && id.contains('.') {
            self.reading.end(0, "", id, Status::Failed).message = why.to_owned();
        } else if self.has_letters && is_bad {
            self.unnamed(id, why);
        }
        true
    }

    /// Assigns a failure to a case known only by a letter: the first failed one of the file without a message.
    fn unnamed(&mut self, id: &str, why: &str) {
        let file = id.split("::").next().unwrap_or_default();
        let mut cases = self.reading.found.iter_mut().filter(|found| found.suite == file).map(|found| &mut found.case);
        if let Some(case) = cases.find(|case| case.status == Status::Failed && case.message.is_empty()) {
            case.message = format!("{id}: {why}");
        }
    }

    /// Parses `==== 1 failed, 3 passed, 1 error in 0.06s ====`. Repeated attempts and subtests are counted in
    /// addition to the cases.
    pub(super) fn summary(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^(?:=+ )?(?P<counts>(?:\d+ [a-z]+(?: [a-z]+)?(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let count = |word: &str| {
            let of = found["counts"].split(", ").filter_map(|part| part.split_once(' '));
            let counts = of.filter(|(_, what)| what.trim_end_matches('s') == word);
            counts.map(|(n, _)| n.parse::<usize>().unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
        };
        let (failed, errors) = (count("failed"), count("error"));
        let (passed, skipped) = (count("passed") + count("xpassed"), count("skipped") + count("xfailed"));
        let others = passed + skipped;
        let reported = self.reading.found.iter().filter(|found| found.case.status != Status::Missing).count();
        let bad = self.reading.found.iter().filter(|found| found.case.status.is_bad()).count();
        // A case can fail, and fail again during teardown, and each of its failed subtests counts too: not each count
        // is another case.
        let is_near =
            (errors > 0 || self.has_subtests && failed > 0) && reported <= others + failed + errors && bad > 0;
        let (total, failed) = if is_near { (reported, bad) } else { (others + failed + errors, failed + errors) };
        self.reading.sum_up(total, failed);
        self.totals = Some(Totals { total, passed, skipped, failed });
        if let Some(from) = self.is_told_since.take() {
            self.reading.about_cases(from..at);
        }
        true
    }
}
