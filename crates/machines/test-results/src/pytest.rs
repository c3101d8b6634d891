//! pytest's console output. With `-v`, every case has a line; without it, there are only letters per file, and cases
//! are named after the file and their number.
//!
//! The last line holds the totals. Lines around it (an internal error, an interruption, too little coverage) can contradict it. `tail.rs` reads
//! everything after the cases, `letters.rs` the letters.

mod letters;
mod tail;

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, form},
};

/// The largest number of cases that are created from totals alone.
const UNNAMED_MAX: usize = 10_000;

/// Parses the console output.
pub(super) fn parse(text: &str) -> Parsed {
    let lines = lines(text);
    let mut reader = Pytest::default();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

#[derive(Default)]
struct Pytest {
    reading: ParserState,
    /// True if numbered cases such as `test_ring.py 2` were created from letters.
    has_letters: bool,
    /// True if a case was named.
    has_names: bool,
    has_subtests: bool,
    /// The heading of the failure that is being read.
    about: Option<String>,
    is_told_since: Option<usize>,
    /// True if the cases are over and the reports about them follow.
    is_over: bool,
    /// The file whose letters are interrupted by output of its cases (`-s`).
    file: Option<String>,
    totals: Option<tail::Totals>,
}

/// Returns the status for a word of pytest; `None` for an attempt that is repeated and for a part of a case.
fn status(word: &str) -> Option<Status> {
    match word {
        "PASSED" | "XPASS" => Some(Status::Passed),
        "SKIPPED" | "XFAIL" => Some(Status::Skipped),
        "RERUN" => None,
        _ if word.starts_with("SUB") => None,
        _ => Some(Status::Failed),
    }
}

impl Pytest {
    fn line(&mut self, at: usize, line: &Line) {
        let text = line.text.as_str();
        let is_used = if self.is_over {
            self.told(text) || self.summary(at, text)
        } else {
            self.collected(text)
                || self.section(at, text)
                || self.case(at, text)
                || self.summary(at, text)
                || self.letters(at, text)
        };
        if is_used {
            self.reading.claim(at, 0..text.len());
        } else if self.is_over {
            self.section(at, text);
            self.heading(text);
        }
    }

    fn collected(&mut self, text: &str) -> bool {
        let form = form!(
            r"^(?:collecting \.\.\. ?)?collected (?P<all>\d+) items?(?P<errors> / \d+ errors?)?(?:.* / (?P<selected>\d+) selected)?"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let count = found.name("selected").map_or(&found["all"], |selected| selected.as_str());
        self.reading.announced = count.parse().ok();
        true
    }

    /// Parses `test_ring.py::test_pop FAILED [ 25%]`, or the form of parallel workers:
    /// `[gw0] [ 25%] FAILED test_ring.py::test_pop`.
    fn case(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^(?P<id>(?:\S+?|\S[^:]*\.\w+)::.*?)\s+(?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN|SUB(?:PASS|FAIL|SKIP)\w*(?:[\[(].*?[\])])*)(?: \((?P<why>.*)\))?(?:\s+\[ *\d+%\])?$"
        );
        let workers = form!(
            r"^\[gw\d+\] \[ *\d+%\] (?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN|SUB(?:PASS|FAIL|SKIP)\w*(?:[\[(].*?[\])])*) (?P<id>\S+?::.*?)(?: \((?P<why>.*)\))?$"
        );
        let found = form.and_then(|form| form.captures(text)).or_else(|| workers?.captures(text));
        if let Some(found) = found {
            self.result(at, found["id"].trim(), &found["status"], found.name("why").map_or("", |why| why.as_str()));
            return true;
        }
        self.late(at, text) || self.begins(at, text)
    }

    /// Records the end of a case, of an attempt or of a part of a case.
    fn result(&mut self, at: usize, id: &str, word: &str, why: &str) {
        self.has_names = true;
        match status(word) {
            Some(status) => {
                let case = self.reading.end(at, "", id, status);
                case.message = why.to_owned();
            }
            None if word == "RERUN" => {
                self.reading.again(at, "", id, Status::Failed);
                self.reading.begin_again(at, "", id);
            }
            // A failed subtest makes its case fail, which is reported too. If the case passes anyway, this line
            // contradicts it.
            None => {
                self.has_subtests = true;
                if word.starts_with("SUBFAIL") {
                    self.reading.fail(format!("a subtest of {id} failed"));
                }
            }
        }
    }

    /// Parses the result of a case that printed something after its name.
    fn late(&mut self, at: usize, text: &str) -> bool {
        let form =
            form!(r"^(?:.*[^A-Z])?(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)(?: \(.*\))?(?:\s+\[ *\d+%\])?$");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let Some(name) = self.reading.open().map(|found| found.case.case_id.clone()) else { return false };
        self.result(at, &name, &found[1], "");
        true
    }

    fn begins(&mut self, at: usize, text: &str) -> bool {
        let form = form!(r"^(?P<id>[^\s:]+\.\w+(?:::[A-Za-z_][\w.]*)+(?:\[[^\]]*\])?)(?: |$)");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let is_open = self.reading.open().is_some_and(|open| open.case.case_id == found["id"]);
        if !is_open {
            self.reading.begin(at, "", &found["id"]);
        }
        self.has_names = true;
        // Output after the name belongs to the case.
        self.reading.claim(at, 0..found["id"].len());
        false
    }

    fn letters(&mut self, at: usize, text: &str) -> bool {
        let found = letters::of(text).or_else(|| letters::interrupted(text, self.file.as_deref()));
        let Some((file, letters)) = found else { return false };
        self.has_letters = true;
        self.file = Some(file.clone());
        let before = self.reading.found.iter().filter(|found| found.suite == file).count();
        let mut number = before;
        let mut earlier = Vec::new();
        for letter in letters {
            match letter {
                letters::LetterMeaning::Ended(status) => {
                    number += 1;
                    let name = format!("{file} {number}");
                    self.reading.end(at, &file, &name, status);
                    earlier.drain(..).for_each(|status| self.reading.earlier(&file, &name, status));
                }
                letters::LetterMeaning::Again => earlier.push(Status::Failed),
                letters::LetterMeaning::Part => self.has_subtests = true,
            }
        }
        true
    }

    /// Adds cases from the totals. If cases print freely (`-s`), letters get lost in their output. If pytest counts
    /// as many cases as it collected, and none failed, the lost ones are known by their number.
    fn take_from_totals(&mut self) {
        let Some(totals) = self.totals.as_ref().filter(|_| !self.has_names) else { return };
        let found = self.reading.found.iter().map(|found| found.case.status);
        let (passed, skipped) = found.fold((0, 0), |(passed, skipped), status| match status {
            Status::Passed => (passed + 1, skipped),
            Status::Skipped => (passed, skipped + 1),
            _ => (passed, skipped),
        });
        let is_whole = self.reading.announced == Some(totals.total) && totals.failed == 0;
        let is_more = passed > totals.passed || skipped > totals.skipped || totals.total > UNNAMED_MAX;
        if !is_whole || is_more || self.reading.found.iter().any(|found| found.case.status.is_bad()) {
            return;
        }
        let lost = [(Status::Passed, totals.passed - passed), (Status::Skipped, totals.skipped - skipped)];
        for (status, count) in lost {
            for number in 1..=count {
                self.reading.end(0, "case", &format!("case {} {number}", status.name()), status);
            }
        }
        if lost.iter().any(|(_, count)| *count > 0) {
            self.has_letters = true;
            self.reading.notes.push("some cases are known only by pytest's count".to_owned());
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        self.take_from_totals();
        if self.reading.summary.is_none() {
            self.reading.doubt("there is no summary (N passed in N s)");
        }
        if self.has_letters {
            let note = "pytest gave no names, so cases are numbered by file: run it with -v, or read its JUnit XML";
            self.reading.notes.push(note.to_owned());
        }
        self.reading.fail_on(lines, tail::says_failed());
        if lines.iter().any(|line| tail::interruption().is_some_and(|form| form.is_match(&line.text))) {
            self.reading.doubt("pytest was interrupted");
        }
        self.reading.finish(lines)
    }
}
