//! The output of `cargo test`: for every test binary `running N tests`, `test name ... ok`, the failures, and
//! `test result:`.

use super::{
    Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, add_line, first_place, form, ms_of_seconds, place},
};

/// Parses the console output.
pub(super) fn parse(text: &str) -> Parsed {
    let lines = lines(text);
    let mut reader = Cargo::default();
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

#[derive(Default)]
struct Cargo {
    reading: ParserState,
    /// The file name of the test binary; empty if cargo's own lines are missing.
    suite: String,
    /// The number of binaries that have begun and not printed their summary.
    unfinished: usize,
    /// The line of the last summary.
    summed_up_at: usize,
    /// The case whose output is being read, and the line at which it began.
    about: Option<(usize, String)>,
}

fn status(word: &str) -> Option<Status> {
    match word {
        "ok" => Some(Status::Passed),
        "FAILED" => Some(Status::Failed),
        _ if word == "ignored" || word.starts_with("ignored, ") => Some(Status::Skipped),
        _ if word.starts_with("bench:") => Some(Status::Passed),
        _ => None,
    }
}

impl Cargo {
    fn line(&mut self, at: usize, line: &Line) {
        let text = line.text.as_str();
        let is_used = self.binary(text) || self.result(at, text) || self.case(at, text) || self.late(at, text);
        if is_used {
            self.reading.claim(at, 0..text.len());
        } else if !self.heading(at, text) {
            self.tell(text);
        }
    }

    fn binary(&mut self, text: &str) -> bool {
        let running = form!(r"^\s+Running .*\((?:.*[/\\])?(?P<name>[\w-]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)$");
        if let Some(found) = running.and_then(|form| form.captures(text)) {
            self.suite = found["name"].to_owned();
            return true;
        }
        if let Some(found) = form!(r"^\s+Doc-tests (\S+)$").and_then(|form| form.captures(text)) {
            self.suite = format!("{} (documentation)", &found[1]);
            return true;
        }
        let Some(found) = form!(r"^running (\d+) tests?$").and_then(|form| form.captures(text)) else { return false };
        self.reading.announce(found[1].parse().unwrap_or(usize::MAX));
        self.unfinished += 1;
        true
    }

    /// Parses `test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    fn result(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^test result: (?P<word>\w+)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored; (?P<measured>\d+) measured; \d+ filtered out"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return false };
        let number = |name: &str| found[name].parse::<usize>().unwrap_or(usize::MAX);
        let all = ["passed", "failed", "ignored", "measured"].map(number).into_iter().fold(0, usize::saturating_add);
        self.reading.sum_up(all, number("failed"));
        if &found["word"] != "ok" {
            self.reading.fail(format!("a test binary says that it failed: {}", text.trim()));
        }
        self.summed_up_at = at;
        self.unfinished = self.unfinished.saturating_sub(1);
        self.stop_telling(at);
        true
    }

    fn case(&mut self, at: usize, text: &str) -> bool {
        let form = form!(
            r"^test (?P<name>\S.*?)(?: \(line (?P<line>\d+)\))?(?: - (?:should panic|compile fail|compile|ignored))* \.\.\. ?(?P<rest>.*)$"
        );
        let Some(found) = form.and_then(|form| form.captures(text)) else { return self.quiet(at, text) };
        let suite = self.suite.clone();
        let rest = found["rest"].trim();
        let Some(status) = status(rest).or_else(|| timed(rest).map(|(status, _)| status)) else {
            self.reading.begin(at, &suite, &found["name"]);
            return true;
        };
        let case = self.reading.end(at, &suite, &found["name"], status);
        case.duration_ms = timed(rest).and_then(|(_, ms)| ms);
        case.message = rest.strip_prefix("ignored, ").unwrap_or_default().to_owned();
        if let Some(line) = found.name("line") {
            case.location = place(found["name"].split(" - ").next().unwrap_or_default(), line.as_str());
        }
        true
    }

    /// Parses `name --- FAILED`, the only lines about cases with `-q`.
    fn quiet(&mut self, at: usize, text: &str) -> bool {
        let Some(found) = form!(r"^(\S+) --- FAILED$").and_then(|form| form.captures(text)) else { return false };
        let suite = self.suite.clone();
        self.reading.end(at, &suite, &found[1], Status::Failed);
        true
    }

    /// Parses the result of a case that printed something after its name.
    fn late(&mut self, at: usize, text: &str) -> bool {
        let Some(status) = status(text.trim()) else { return false };
        let Some(open) = self.reading.open() else { return false };
        let (suite, name) = (open.suite.clone(), open.case.case_id.clone());
        self.reading.end(at, &suite, &name, status);
        true
    }

    fn heading(&mut self, at: usize, text: &str) -> bool {
        let form = form!(r"^---- (\S.*?)(?: \(line \d+\))? (?:stdout|stderr) ----$");
        let found = form.and_then(|form| form.captures(text));
        if found.is_some() || text == "failures:" {
            self.stop_telling(at);
        }
        let Some(found) = found else { return text == "failures:" };
        self.about = Some((at, found[1].to_owned()));
        true
    }

    fn tell(&mut self, text: &str) {
        let Some((_, name)) = &self.about else { return };
        let suite = &self.suite;
        let cases = self.reading.found.iter_mut().rev().filter(|found| found.suite == *suite);
        let Some(case) = cases.map(|found| &mut found.case).find(|case| case.case_id == *name) else { return };
        if let Some(found) = form!(r"panicked at (.+?):(\d+)(?::\d+)?:?$").and_then(|form| form.captures(text)) {
            case.location = place(&found[1], &found[2]);
        } else if let Some(found) = form!(r"^\s+at (.+?:\d+)(?::\d+)?$").and_then(|form| form.captures(text)) {
            // Frames of the standard library are left out.
            if !found[1].starts_with("/rustc/") {
                case.stack.push(found[1].to_owned());
            }
        } else if !form!(r"^(?:\s+\d+: |stack backtrace:|note: (?:Some details|run with))")
            .is_some_and(|form| form.is_match(text))
        {
            add_line(&mut case.message, text);
            case.location = case.location.take().or_else(|| first_place(text));
        }
    }

    fn stop_telling(&mut self, at: usize) {
        if let Some((from, _)) = self.about.take() {
            self.reading.about_cases(from..at);
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        if self.reading.summary.is_none() || self.unfinished > 0 {
            self.reading.doubt("a test binary began and did not sum up (test result: ...)");
        }
        self.outside(lines);
        self.reading.finish(lines)
    }

    /// Reads cargo's own messages. A failed test run is explained by a case; a failed build is not.
    fn outside(&mut self, lines: &[Line]) {
        let not_built = form!(r"^error: could not (?:compile|document)");
        let is_not_built = |line: &Line| not_built.is_some_and(|form| form.is_match(&line.text));
        if let Some(at) = lines.iter().position(is_not_built) {
            self.reading.end_uncounted(at, "the build", Status::Failed).message = lines[at].text.clone();
        }
        let says_failed = form!(
            r"^error: (?:test|bench|doctest|\d+ targets?) failed|^error: build failed|^error\[E\d+\]: |^error: aborting due to|^test result: FAILED|^test .*\.\.\. FAILED$|^\S+ --- FAILED$"
        );
        self.reading.fail_on(lines, says_failed);
        let after = lines.get(self.summed_up_at..).unwrap_or_default();
        self.reading.fail_on(after, form!(r"^error(?:\[E\d+\])?: "));
    }
}

/// Parses `ok <0.012s>`, as printed with reported times.
fn timed(rest: &str) -> Option<(Status, Option<u64>)> {
    let found = form!(r"^(\w+) <([\d.]+)s>$")?.captures(rest)?;
    Some((status(&found[1])?, ms_of_seconds(&found[2])))
}
