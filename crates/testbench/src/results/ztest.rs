//! Zephyr's test console: `START - name`, ` PASS - name in 0.1 seconds`, a summary per suite, and how the project's execution ended.

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{Reading, add_line, first_place, form, ms_of_seconds},
};

/// Reads the console.
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
    reading: Reading,
    suite: String,
    said: String,
    /// What the summary says of cases, by id.
    listed: Vec<(String, Status)>,
    is_over: bool,
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
            self.begin(at, text) || self.case(at, text) || self.listed(text) || self.summary(text)
        };
        if is_used {
            self.reading.claim(at, 0..text.len());
        } else {
            add_line(&mut self.said, text);
        }
    }

    fn id(&self, name: &str) -> String {
        if self.suite.is_empty() { name.to_owned() } else { format!("{}.{name}", self.suite) }
    }

    fn begin(&mut self, at: usize, text: &str) -> bool {
        let Some(found) = form!(r"\bSTART - (\w+)").and_then(|form| form.captures(text)) else { return false };
        self.said.clear();
        let id = self.id(&found[1]);
        self.reading.begin(at, "", &id);
        true
    }

    fn case(&mut self, at: usize, text: &str) -> bool {
        let form =
            form!(r"(?:^|\W)(?P<status>PASS|FAIL|SKIP) - (?P<name>\w+)(?:\.\S+)? in (?P<seconds>[\d.]+) seconds");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let status = status(&found["status"]);
        let id = self.id(&found["name"]);
        let said = std::mem::take(&mut self.said);
        let case = self.reading.end(at, "", &id, status);
        case.duration_ms = ms_of_seconds(&found["seconds"]);
        if status == Status::Failed {
            case.location = first_place(&said);
            case.message = said;
        }
        true
    }

    fn listed(&mut self, text: &str) -> bool {
        let form = form!(r"^ - (?P<status>PASS|FAIL|SKIP) - \[(?P<id>[\w.]+)\] duration = [\d.]+ seconds");
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        self.listed.push((found["id"].to_owned(), status(&found["status"])));
        true
    }

    fn summary(&mut self, text: &str) -> bool {
        let form = form!(
            r"SUITE (?:PASS|FAIL|SKIP) - +[\d.]+% \[[^\]]*\]: pass = \d+, fail = (?P<fail>\d+), skip = \d+, total = (?P<total>\d+)"
        );
        if let Some(found) = form.and_then(|form| form.captures(text)) {
            let number = |name: &str| found[name].parse().unwrap_or(usize::MAX);
            self.reading.sum_up(number("total"), number("fail"));
            return true;
        }
        let is_end = form!(r"PROJECT EXECUTION (?:SUCCESSFUL|FAILED)").is_some_and(|form| form.is_match(text));
        self.is_over |= is_end;
        is_end || form!(r"^(?:TESTSUITE|Test suite) \S+ (?:succeeded|failed)").is_some_and(|form| form.is_match(text))
    }

    /// A result that other output made unreadable stands in the summary once more.
    fn take_from_summary(&mut self) {
        for (id, status) in std::mem::take(&mut self.listed) {
            match self.reading.found.iter().find(|found| found.case.case_id == id).map(|found| found.case.status) {
                Some(Status::Missing) | None => {
                    self.reading.end(0, "", &id, status);
                    self.reading.notes.push(format!("the result of {id} is taken from the summary"));
                }
                Some(before) if before != status => {
                    self.reading.doubt(format!("{id} {} and is {} in the summary", before.name(), status.name()));
                }
                Some(_) => {}
            }
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        self.take_from_summary();
        if !self.is_over {
            self.reading.doubt("nothing says how the project's execution ended");
        }
        self.reading.finish(lines)
    }
}
