//! What every reader of a format fills: cases that begin and end, what was announced and summed up. At the end it becomes [`Parsed`], with all
//! that does not fit together said as doubts.

use std::{collections::BTreeMap, ops::Range};

use super::{
    Case, Flaky, Location, Parsed, Status,
    banner::{self, Kind},
    lines::Line,
    names,
};

/// A regular expression of this crate, compiled once. One that does not compile matches nothing, and fails every test that needs it.
macro_rules! form {
    ($text:expr) => {{
        static FORM: std::sync::LazyLock<Option<regex::Regex>> = std::sync::LazyLock::new(|| {
            let form = regex::Regex::new($text);
            debug_assert!(form.is_ok(), "{form:?}");
            form.ok()
        });
        FORM.as_ref()
    }};
}
pub(super) use form;

/// The longest message that is kept of a case.
const MESSAGE_MAX: usize = 4096;
/// The most lines that are kept of a stack.
const STACK_MAX: usize = 32;

/// A case as it was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// What it belongs to; tells cases of one name apart.
    pub(super) suite: String,
    /// The case; its id is only its name until the end.
    pub(super) case: Case,
    /// The line where it began.
    began: usize,
    /// How earlier attempts at it ended.
    earlier: Vec<Status>,
    /// Whether the framework's totals count it.
    is_counted: bool,
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) found: Vec<Found>,
    pub(super) announced: Option<usize>,
    pub(super) summary: Option<(usize, usize)>,
    pub(super) doubts: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) faults: Vec<String>,
    /// Lines by which the framework, or what ran it, says that the run failed.
    failures: Vec<String>,
    /// Those that have begun and not ended, by their place in `found`.
    open: Vec<usize>,
    claimed: BTreeMap<usize, Range<usize>>,
    within: Vec<Range<usize>>,
}

impl Reading {
    /// A case begins.
    pub(super) fn begin(&mut self, at: usize, suite: &str, name: &str) {
        self.open.push(self.found.len());
        self.push(at, suite, name);
    }

    fn push(&mut self, at: usize, suite: &str, name: &str) {
        let case = Case::new(name, Status::Missing);
        let (earlier, is_counted) = (Vec::new(), true);
        self.found.push(Found { suite: suite.to_owned(), case, began: at, earlier, is_counted });
    }

    /// A case ended, whether or not it was seen to begin.
    pub(super) fn end(&mut self, at: usize, suite: &str, name: &str, status: Status) -> &mut Case {
        let is_it = |index: &usize| self.found[*index].case.case_id == name && self.found[*index].suite == suite;
        let index = match self.open.iter().rposition(is_it) {
            Some(place) => self.open.remove(place),
            None => {
                self.push(at, suite, name);
                self.found.len() - 1
            }
        };
        let found = &mut self.found[index];
        found.case.status = status;
        self.within.push(found.began..at);
        &mut found.case
    }

    /// A case that was seen before begins once more.
    pub(super) fn begin_again(&mut self, at: usize, suite: &str, name: &str) {
        self.again(at, suite, name, Status::Missing);
        let is_it = |found: &Found| found.case.case_id == name && found.suite == suite;
        self.open.extend(self.found.iter().rposition(is_it));
    }

    /// A case ended that may have ended before: the earlier result stays known as an earlier attempt.
    pub(super) fn again(&mut self, at: usize, suite: &str, name: &str, status: Status) -> &mut Case {
        let is_it = |found: &Found| found.case.case_id == name && found.suite == suite;
        let Some(index) = self.found.iter().rposition(is_it) else { return self.end(at, suite, name, status) };
        self.open.retain(|open| *open != index);
        let found = &mut self.found[index];
        if found.case.status != Status::Missing {
            found.earlier.push(found.case.status);
        }
        found.case.status = status;
        self.within.push(found.began..at);
        &mut found.case
    }

    /// An attempt at a case ended that another one follows or followed.
    pub(super) fn earlier(&mut self, suite: &str, name: &str, status: Status) {
        let is_it = |found: &&mut Found| found.case.case_id == name && found.suite == suite;
        if let Some(found) = self.found.iter_mut().rev().find(is_it) {
            found.earlier.push(status);
        }
    }

    /// Something failed that is no case and that no total counts: a suite's set-up, say. It is reported as a case of its own.
    pub(super) fn end_uncounted(&mut self, at: usize, name: &str, status: Status) -> &mut Case {
        self.push(at, "", name);
        let index = self.found.len() - 1;
        let found = &mut self.found[index];
        found.is_counted = false;
        found.case.status = status;
        &mut found.case
    }

    /// The framework, or what ran it, says that the run failed. Counts where no failed case explains it.
    pub(super) fn fail(&mut self, why: impl Into<String>) {
        self.failures.push(why.into());
    }

    /// The first line of a form by which the framework says that the run failed.
    pub(super) fn fail_on(&mut self, lines: &[Line], form: Option<&regex::Regex>) {
        self.fail_where(lines, |text| form.is_some_and(|form| form.is_match(text)));
    }

    /// The first line by which the framework says that the run failed.
    pub(super) fn fail_where(&mut self, lines: &[Line], says_so: impl Fn(&str) -> bool) {
        if let Some(line) = lines.iter().find(|line| says_so(&line.text)) {
            self.fail(format!("it says that it failed: {}", shortened(line.text.trim())));
        }
    }

    /// The case that began last and has not ended.
    pub(super) fn open(&self) -> Option<&Found> {
        self.open.last().map(|index| &self.found[*index])
    }

    /// The newest case of a name.
    pub(super) fn case(&mut self, name: &str) -> Option<&mut Case> {
        self.found.iter_mut().rev().map(|found| &mut found.case).find(|case| case.case_id == name)
    }

    /// This part of a line is the framework's own: no banner is looked for in it, and cut off it is doubted.
    pub(super) fn claim(&mut self, at: usize, part: Range<usize>) {
        self.claimed.insert(at, part);
    }

    /// These lines are about cases, so that an assertion in them is the business of a case.
    pub(super) fn about_cases(&mut self, lines: Range<usize>) {
        self.within.push(lines);
    }

    /// Why it cannot be believed.
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    /// More cases were announced.
    pub(super) fn announce(&mut self, count: usize) {
        self.announced = Some(self.announced.unwrap_or(0).saturating_add(count));
    }

    /// More cases were summed up.
    pub(super) fn sum_up(&mut self, total: usize, failed: usize) {
        let (before, failed_before) = self.summary.unwrap_or((0, 0));
        self.summary = Some((before.saturating_add(total), failed_before.saturating_add(failed)));
    }

    /// All that there was to read of these lines.
    pub(super) fn finish(mut self, lines: &[Line]) -> Parsed {
        let last = lines.len().saturating_sub(1);
        if lines.last().is_some_and(|line| !line.ended) && self.claimed.contains_key(&last) {
            self.doubt("the last line is not ended: it may be cut off");
        }
        self.look_for_faults(lines);
        self.fail_on(lines, banner::stopped());
        self.close()
    }

    /// All that there was to read, where it was no console.
    pub(super) fn close(mut self) -> Parsed {
        self.compare();
        // Without a case that failed nothing else explains such a line.
        if self.found.iter().any(|found| found.case.status.is_bad()) {
            self.failures.clear();
        }
        let running = self.open.last().copied();
        let attempts: Vec<Vec<Status>> = self.found.iter_mut().map(attempts).collect();
        let suites: Vec<String> = self.found.iter().map(|found| found.suite.clone()).collect();
        let mut cases: Vec<Case> = self.found.into_iter().map(|found| tidy(found.case)).collect();
        names::make_unique(&mut cases, &suites, &mut self.notes);
        let flaky = attempts.into_iter().zip(&cases).filter(|(statuses, _)| !statuses.is_empty());
        let flaky = flaky.map(|(statuses, case)| Flaky { case_id: case.case_id.clone(), statuses }).collect();
        Parsed {
            flaky,
            failures: self.failures,
            running: running.map(|index| cases[index].case_id.clone()),
            cases,
            announced: self.announced,
            summary: self.summary,
            faults: self.faults,
            doubts: self.doubts,
            notes: self.notes,
        }
    }

    fn look_for_faults(&mut self, lines: &[Line]) {
        for (at, line) in lines.iter().enumerate() {
            let text = match self.claimed.get(&at) {
                Some(part) => {
                    let before = line.text.get(..part.start).unwrap_or_default();
                    let after = line.text.get(part.end..).unwrap_or_default();
                    format!("{before} {after}")
                }
                None => line.text.clone(),
            };
            let within = || self.within.iter().any(|lines| lines.contains(&at));
            match banner::kind(&text) {
                Some(Kind::Assertion) if within() => {}
                Some(_) => self.faults.push(text.trim().to_owned()),
                None => {}
            }
        }
    }

    /// Compares what was announced and summed up with what is there.
    fn compare(&mut self) {
        let counted = || self.found.iter().filter(|found| found.is_counted);
        let reported = counted().filter(|found| found.case.status != Status::Missing).count();
        let failed = counted().filter(|found| found.case.status.is_bad()).count();
        if reported == 0 {
            self.doubt("not one case is reported");
        }
        if let Some(announced) = self.announced.filter(|announced| *announced != reported) {
            self.doubt(format!("cases announced: {announced}, reported: {reported}"));
        }
        if let Some((total, _)) = self.summary.filter(|(total, _)| *total != reported) {
            self.doubt(format!("cases by the summary: {total}, reported: {reported}"));
        }
        if let Some((_, said)) = self.summary.filter(|(_, said)| *said != failed) {
            self.doubt(format!("failed cases by the summary: {said}, reported: {failed}"));
        }
    }
}

/// The statuses of all attempts at a case, where they differ.
fn attempts(found: &mut Found) -> Vec<Status> {
    let mut statuses = std::mem::take(&mut found.earlier);
    let last = found.case.status;
    // An attempt that was not finished takes no part: the case is missing.
    if last == Status::Missing || statuses.iter().all(|status| *status == last) {
        return Vec::new();
    }
    statuses.push(last);
    statuses
}

/// The case with its texts trimmed to what is kept.
fn tidy(mut case: Case) -> Case {
    case.message = shortened(case.message.trim());
    case.stack.truncate(STACK_MAX);
    case
}

/// The beginning of a text that is too long to be kept.
pub(super) fn shortened(text: &str) -> String {
    let mut end = text.len().min(MESSAGE_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Adds a line to a message.
pub(super) fn add_line(message: &mut String, line: &str) {
    if message.len() < MESSAGE_MAX {
        if !message.is_empty() {
            message.push('\n');
        }
        message.push_str(line);
    }
}

/// A place, where the line is a number.
pub(super) fn place(file: &str, line: &str) -> Option<Location> {
    let line = line.parse().ok()?;
    (!file.is_empty()).then(|| Location { file: file.to_owned(), line })
}

/// The first place that a text names as `file:line`, or as `file(line):` as compilers of Windows do. A drive belongs to the file.
pub(super) fn first_place(text: &str) -> Option<Location> {
    let form = form!(
        r#"(?P<file>(?:\b[A-Za-z]:[\\/])?[^\s:"'(\[]+\.[A-Za-z]\w{0,5})(?::(?P<line>\d{1,7})\b|\((?P<at>\d{1,7})(?:,\d+)?\) ?:)"#
    );
    let found = form?.captures(text)?;
    let line = found.name("line").or_else(|| found.name("at"))?;
    place(&found["file"], line.as_str())
}

/// Milliseconds of a number of seconds as frameworks write them: `0.25`, `1,234.5`, and `1,5` where a comma marks the fraction. A comma alone does
/// that: tests that take a thousand seconds are rarer than languages that write so.
pub(super) fn ms_of_seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let is_one_comma = text.matches(',').count() == 1;
    let is_fraction = match (text.rfind(','), text.rfind('.')) {
        (Some(_), None) => is_one_comma,
        (Some(comma), Some(dot)) => is_one_comma && comma > dot,
        _ => false,
    };
    let plain = if is_fraction { text.replace('.', "").replace(',', ".") } else { text.replace(',', "") };
    let seconds: f64 = plain.parse().ok()?;
    (seconds.is_finite() && (0.0..1e12).contains(&seconds)).then(|| (seconds * 1000.0).round() as u64)
}
