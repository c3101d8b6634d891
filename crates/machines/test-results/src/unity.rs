//! Unity: `file:line:name:PASS`, a summary, and `OK` or `FAIL` at the end. Its fixtures announce cases as
//! `TEST(group, name)`. PlatformIO prints the same results differently: `file:line: name [PASSED]`, and a line with
//! totals.
//!
//! Other output may stand on the same console before, between and after the results; text directly beside a result
//! does not hide it.

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, form, place},
};

/// Parses the console output.
pub(super) fn parse(text: &str) -> Parsed {
    let lines = lines(text);
    let mut reader = Unity::default();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

/// Reports whether a line is a result of Unity.
pub(super) fn is_result(line: &str) -> bool {
    result(line).is_some()
}

#[derive(Default)]
struct Unity {
    reading: ParserState,
    /// True if a summary has not been followed by `OK` or `FAIL` yet.
    unconfirmed: bool,
    /// True if PlatformIO printed the results.
    is_platformio: bool,
    /// True if PlatformIO's totals were read.
    platformio_total: bool,
}

/// A parsed result line.
struct Result<'a> {
    found: regex::Captures<'a>,
    status: Status,
}

/// Parses a result line. If the name is not an identifier (some ports allow sentences), the result or its message
/// must end the line.
fn result(line: &str) -> Option<Result<'_>> {
    let form = form!(
        r"(?P<file>[^\s:()]+):(?P<line>\d+):(?P<name>(?:TEST\(\w+, ?\w+\))|[^:]{1,200}?):(?P<status>PASS|FAIL|IGNORE)(?P<rest>.*)$"
    );
    let found = form?.captures(line)?;
    let is_identifier = found["name"].chars().all(|c| c.is_alphanumeric() || c == '_');
    let rest = &found["rest"];
    let is_ended = rest.is_empty() || rest.starts_with(':') || rest.starts_with(" (");
    if !is_ended && (!is_identifier || rest.starts_with(' ')) {
        return None;
    }
    let status = match &found["status"] {
        "PASS" => Status::Passed,
        "FAIL" => Status::Failed,
        _ => Status::Skipped,
    };
    Some(Result { found, status })
}

impl Unity {
    fn line(&mut self, at: usize, line: &Line) {
        if let Some(result) = result(&line.text) {
            self.case(at, line, &result);
        } else if !self.bracketed(at, line) && !self.summary(at, line) && !self.total(at, line) && !self.end(at, line) {
            self.fixture(at, line);
        }
    }

    fn case(&mut self, at: usize, line: &Line, result: &Result<'_>) {
        let found = &result.found;
        let rest = found["rest"].to_owned();
        let suite = stem(&found["file"]).to_owned();
        let name = match form!(r"^TEST\((\w+), ?(\w+)\)$").and_then(|form| form.captures(&found["name"])) {
            Some(names) => format!("{}.{}", &names[1], &names[2]),
            None => found["name"].to_owned(),
        };
        let suite = if name.contains('.') { String::new() } else { suite };
        let case = self.reading.end(at, &suite, &name, result.status);
        case.message = rest.strip_prefix(':').unwrap_or_default().trim().to_owned();
        if result.status != Status::Passed {
            case.location = place(&found["file"], &found["line"]);
        }
        let duration = form!(r"^ \((\d+) ms\)$").and_then(|form| form.captures(&rest));
        if let Some(duration) = duration {
            case.duration_ms = duration[1].parse().ok();
        }
        // Text directly after a PASS is other output, and may be a fault.
        let end = if rest.starts_with(':') { line.text.len() } else { line.text.len() - rest.len() };
        let start = found.name("file").map_or(0, |file| file.start());
        self.reading.claim(at, start..end);
    }

    /// Parses a result of PlatformIO: `test/test_ring.cpp:12: test_pop: Expected 3 Was 7 [FAILED]`.
    fn bracketed(&mut self, at: usize, line: &Line) -> bool {
        let form = form!(
            r"^(?P<file>(?:[A-Za-z]:[\\/])?[^\s:]+):(?P<line>\d+): ?(?P<name>[^:\t]{1,200}?)(?:: ?(?P<message>.*?))?\s+\[(?P<status>PASSED|FAILED|ERRORED|IGNORED|SKIPPED)\](?: \([\d.]+s\))?$"
        );
        let Some(found) = form.and_then(|form| form.captures(&line.text)) else { return false };
        let status = match &found["status"] {
            "PASSED" => Status::Passed,
            "IGNORED" | "SKIPPED" => Status::Skipped,
            _ => Status::Failed,
        };
        let case = self.reading.end(at, stem(&found["file"]), found["name"].trim(), status);
        case.message = found.name("message").map_or("", |message| message.as_str()).trim().to_owned();
        if status != Status::Passed {
            case.location = place(&found["file"], &found["line"]);
        }
        self.is_platformio = true;
        self.reading.claim(at, 0..line.text.len());
        true
    }

    /// Parses PlatformIO's totals of all suites: `=== 3 test cases: 1 failed, 2 succeeded in 00:00:01.093 ===`. A
    /// failed suite counts as an additional case.
    fn total(&mut self, at: usize, line: &Line) -> bool {
        let form = form!(r"^=+ (?P<total>\d+) test cases?: (?P<counts>.*) in [\d:.]+ =+$");
        let Some(found) = form.and_then(|form| form.captures(&line.text)) else { return false };
        let counts = || found["counts"].split(", ").filter_map(|part| part.split_once(' '));
        let of = |words: &[&str]| {
            let meant = counts().filter(|(_, word)| words.contains(word));
            meant.filter_map(|(count, _)| count.parse::<usize>().ok()).fold(0, usize::saturating_add)
        };
        let total = found["total"].parse().unwrap_or(usize::MAX);
        let bad = of(&["failed", "errored"]);
        let reported = self.reading.found.iter().filter(|found| found.case.status != Status::Missing).count();
        let is_bad_case = self.reading.found.iter().any(|found| found.case.status.is_bad());
        if bad > 0 && !is_bad_case {
            self.reading.fail(format!("PlatformIO counts {bad} that failed"));
        }
        if bad == 0 && total != reported || total < reported {
            self.reading.doubt(format!("cases by PlatformIO's count: {total}, reported: {reported}"));
        }
        self.is_platformio = true;
        self.reading.claim(at, 0..line.text.len());
        self.platformio_total = true;
        true
    }

    fn summary(&mut self, at: usize, line: &Line) -> bool {
        let form = form!(r"\b(\d+)\s+Tests?\s+(\d+)\s+Failures?\s+(\d+)\s+Ignored");
        let Some(found) = form.and_then(|form| form.captures(&line.text)) else { return false };
        let number = |index: usize| found[index].parse().unwrap_or(usize::MAX);
        self.reading.sum_up(number(1), number(2));
        self.reading.claim(at, 0..line.text.len());
        self.unconfirmed = true;
        true
    }

    fn end(&mut self, at: usize, line: &Line) -> bool {
        let word = line.text.trim();
        let is_end = (self.unconfirmed && word == "OK") || word == "FAIL";
        if is_end {
            self.unconfirmed = false;
            self.reading.claim(at, 0..line.text.len());
        }
        if word == "FAIL" {
            self.reading.fail("its last word is FAIL");
        }
        is_end
    }

    fn fixture(&mut self, at: usize, line: &Line) {
        let form = form!(r"TEST\((\w+), ?(\w+)\)(?P<pass> PASS)?");
        let found = form.and_then(|form| form.captures(&line.text));
        if let Some(found) = found {
            let name = format!("{}.{}", &found[1], &found[2]);
            match found.name("pass") {
                Some(_) => _ = self.reading.end(at, "", &name, Status::Passed),
                None => self.reading.begin(at, "", &name),
            }
            self.reading.claim(at, found.get(0).map_or(0..0, |all| all.range()));
        } else if line.text.trim() == "PASS"
            && let Some(name) = self.reading.open().map(|found| found.case.case_id.clone())
        {
            self.reading.end(at, "", &name, Status::Passed);
            self.reading.claim(at, 0..line.text.len());
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        self.reading.fail_on(lines, form!(r":FAIL\b|\s\[(?:FAILED|ERRORED)\](?:\s|$)"));
        if self.is_platformio && self.reading.summary.is_none() {
            if !self.platformio_total {
                self.reading.doubt("there is no summary (N test cases: N succeeded)");
            }
        } else if self.reading.summary.is_none() {
            self.reading.doubt("there is no summary (N Tests N Failures N Ignored)");
        } else if self.unconfirmed {
            self.reading.doubt("neither OK nor FAIL follows the summary");
        }
        self.reading.finish(lines)
    }
}

/// Returns the name of a file without directory and extension.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split('.').next().unwrap_or(name)
}
