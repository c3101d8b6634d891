//! pytest's console. With `-v` every case has a line; without, only letters per file, and then cases are called after the file and their number.

mod letters;

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{Reading, form, place},
};

/// Reads the console.
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
    reading: Reading,
    /// `test_ring.py 2` and the like were made.
    has_letters: bool,
    /// The heading of the failure that is being told.
    about: Option<String>,
    is_told_since: Option<usize>,
    /// Whether the cases are over and what is said about them follows.
    is_over: bool,
}

fn status(word: &str) -> Status {
    match word {
        "PASSED" | "XPASS" => Status::Passed,
        "SKIPPED" | "XFAIL" => Status::Skipped,
        _ => Status::Failed,
    }
}

impl Pytest {
    fn line(&mut self, at: usize, line: &Line) {
        let text = line.text.as_str();
        let is_used = if self.is_over {
            self.told(text) || self.summary(at, text)
        } else {
            self.collected(text) || self.case(at, text) || self.summary(at, text) || self.letters(at, text)
        };
        if is_used {
            self.reading.claim(at, 0..text.len());
        } else {
            self.section(at, text);
        }
    }

    fn collected(&mut self, text: &str) -> bool {
        let form = form!(r"^(?:collecting \.\.\. )?collected (?P<all>\d+) items?(?:.* / (?P<selected>\d+) selected)?");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let count = found.name("selected").map_or(&found["all"], |selected| selected.as_str());
        self.reading.announced = count.parse().ok();
        true
    }

    /// `test_ring.py::test_pop FAILED [ 25%]`, or as several workers print it: `[gw0] [ 25%] FAILED test_ring.py::test_pop`.
    fn case(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^(?P<id>\S+?::.*?)\s+(?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \((?P<why>.*)\))?(?:\s+\[ *\d+%\])?$"
        );
        let workers = form!(
            r"^\[gw\d+\] \[ *\d+%\] (?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (?P<id>\S+?::.*?)(?: \((?P<why>.*)\))?$"
        );
        let found = form.and_then(|form| form.captures(text)).or_else(|| workers?.captures(text));
        if let Some(found) = found {
            let case = self.reading.end(at, "", found["id"].trim(), status(&found["status"]));
            case.message = found.name("why").map_or_else(String::new, |why| why.as_str().to_owned());
            return true;
        }
        self.late(at, text) || self.begins(at, text)
    }

    /// The result of a case that printed something after its name.
    fn late(&mut self, at: usize, text: &str) -> bool {
        let form = form!(r"^(?:.*[^A-Z])?(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[ *\d+%\])?$");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let Some(name) = self.reading.open().map(|found| found.case.case_id.clone()) else { return false };
        self.reading.end(at, "", &name, status(&found[1]));
        true
    }

    fn begins(&mut self, at: usize, text: &str) -> bool {
        let form = form!(r"^(?P<id>[^\s:]+\.py(?:::[A-Za-z_]\w*)+(?:\[[^\]]*\])?)(?: |$)");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        self.reading.begin(at, "", &found["id"]);
        // What the case prints behind its name is its own.
        self.reading.claim(at, 0..found["id"].len());
        false
    }

    fn letters(&mut self, at: usize, text: &str) -> bool {
        let Some((file, statuses)) = letters::of(text) else { return false };
        self.has_letters = true;
        let before = self.reading.found.iter().filter(|found| found.suite == file).count();
        for (index, status) in statuses.into_iter().enumerate() {
            self.reading.end(at, &file, &format!("{file} {}", before + index + 1), status);
        }
        true
    }

    /// The headings of what follows the cases, and what stands below them.
    fn section(&mut self, at: usize, text: &str) {
        if form!(r"^=+ (?:FAILURES|ERRORS|PASSES|short test summary info) =+$").is_some_and(|form| form.is_match(text))
        {
            self.is_over = true;
            self.is_told_since.get_or_insert(at);
        }
        if let Some(found) = form!(r"^_+ (?:ERROR at \w+ of )?(\S.*?) _+$").and_then(|form| form.captures(text)) {
            self.about = Some(found[1].replace('.', "::"));
        }
        let raised = form!(r"^(\S+?):(\d+): \w[\w.]*$").and_then(|form| form.captures(text));
        if let (Some(raised), Some(about)) = (raised, &self.about) {
            let ending = format!("::{about}");
            let case = self.reading.found.iter_mut().map(|found| &mut found.case);
            if let Some(case) = case.into_iter().find(|case| case.case_id.ends_with(&ending)) {
                case.location = place(&raised[1], &raised[2]);
            }
        }
    }

    /// `FAILED test_ring.py::test_pop - assert 1 == 2`, and files that could not be collected.
    fn told(&mut self, text: &str) -> bool {
        let form = form!(
            r"^(?P<status>FAILED|ERROR|PASSED|SKIPPED|XFAIL|XPASS) (?P<id>\S+\.py(?:::.*?)?)(?: - (?P<why>.*))?$"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let why = found.name("why").map_or("", |why| why.as_str());
        if let Some(case) = self.reading.case(&found["id"]) {
            case.message = why.to_owned();
        } else if !found["id"].contains("::") {
            self.reading.end(0, "", &found["id"], Status::Failed).message = why.to_owned();
        } else if self.has_letters {
            self.unnamed(&found["id"], why);
        }
        true
    }

    /// A case of which only a letter is known: the first that failed in its file and of which nothing is said.
    fn unnamed(&mut self, id: &str, why: &str) {
        let file = id.split("::").next().unwrap_or_default();
        let mut cases = self.reading.found.iter_mut().filter(|found| found.suite == file).map(|found| &mut found.case);
        if let Some(case) = cases.find(|case| case.status == Status::Failed && case.message.is_empty()) {
            case.message = format!("{id}: {why}");
        }
    }

    /// `==== 1 failed, 3 passed, 1 error in 0.06s ====`
    fn summary(&mut self, at: usize, text: &str) -> bool {
        let form =
            form!(r"^(?:=+ )?(?P<counts>(?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let count = |word: &str| {
            let of = found["counts"].split(", ").filter_map(|part| part.split_once(' '));
            of.filter(|(_, what)| what.trim_end_matches('s') == word)
                .filter_map(|(n, _)| n.parse::<usize>().ok())
                .sum::<usize>()
        };
        let (failed, errors) = (count("failed"), count("error"));
        let others = count("passed") + count("skipped") + count("xfailed") + count("xpassed");
        let reported = self.reading.found.iter().filter(|found| found.case.status != Status::Missing).count();
        let bad = self.reading.found.iter().filter(|found| found.case.status.is_bad()).count();
        // A case can fail and then fail again when it is taken down: an error is not always a case more.
        let is_near = errors > 0 && reported <= others + failed + errors && bad > 0;
        let (total, failed) = if is_near { (reported, bad) } else { (others + failed + errors, failed + errors) };
        self.reading.sum_up(total, failed);
        if let Some(from) = self.is_told_since.take() {
            self.reading.about_cases(from..at);
        }
        true
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        if self.reading.summary.is_none() {
            self.reading.doubt("there is no summary (N passed in N s)");
        }
        if self.has_letters {
            let note = "pytest gave no names, so cases are numbered by file: run it with -v, or read its JUnit XML";
            self.reading.notes.push(note.to_owned());
        }
        self.reading.finish(lines)
    }
}
