//! The state that every parser fills: cases that begin and end, announcements and summaries. At the end it becomes
//! [`Parsed`], with every contradiction reported as a doubt.

use std::{collections::BTreeMap, ops::Range};

use super::{
    CaseResult, Flaky, Location, Parsed, Status,
    banner::{self, Kind},
    lines::Line,
    names,
};

/// A regular expression of this crate, compiled once. If it does not compile, it matches nothing and fails every test
/// that needs it.
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
/// The largest number of stack lines that are kept.
const STACK_MAX: usize = 32;

/// A case as the parser found it.
#[derive(Clone, Debug)]
pub(super) struct FoundCase {
    /// The suite of the case; it distinguishes cases with the same name.
    pub(super) suite: String,
    /// The case; its id is the bare name until the end of parsing.
    pub(super) case: CaseResult,
    /// The line at which the case began.
    began: usize,
    /// The statuses of earlier attempts.
    earlier: Vec<Status>,
    /// True if the framework's totals include the case.
    is_counted: bool,
}

/// The parsing state of a text.
#[derive(Default)]
pub(super) struct ParserState {
    pub(super) found: Vec<FoundCase>,
    pub(super) announced: Option<usize>,
    pub(super) summary: Option<(usize, usize)>,
    pub(super) doubts: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) faults: Vec<String>,
    /// Lines in which the framework or its driver reports that the run failed.
    failures: Vec<String>,
    /// The indices in `found` of the cases that have begun and not ended.
    open: Vec<usize>,
    claimed: BTreeMap<usize, Range<usize>>,
    within: Vec<Range<usize>>,
}

impl ParserState {
    /// Records the begin of a case.
    pub(super) fn begin(&mut self, at: usize, suite: &str, name: &str) {
        self.open.push(self.found.len());
        self.push(at, suite, name);
    }

    fn push(&mut self, at: usize, suite: &str, name: &str) {
        let case = CaseResult::new(name, Status::Missing);
        let (earlier, is_counted) = (Vec::new(), true);
        self.found.push(FoundCase { suite: suite.to_owned(), case, began: at, earlier, is_counted });
    }

    /// Records the end of a case, whether or not its begin was seen.
    pub(super) fn end(&mut self, at: usize, suite: &str, name: &str, status: Status) -> &mut CaseResult {
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

    /// Records that a known case begins again.
    pub(super) fn begin_again(&mut self, at: usize, suite: &str, name: &str) {
        self.again(at, suite, name, Status::Missing);
        let is_it = |found: &FoundCase| found.case.case_id == name && found.suite == suite;
        self.open.extend(self.found.iter().rposition(is_it));
    }

    /// Records the end of a case that may have ended before: the earlier result becomes an earlier attempt.
    pub(super) fn again(&mut self, at: usize, suite: &str, name: &str, status: Status) -> &mut CaseResult {
        let is_it = |found: &FoundCase| found.case.case_id == name && found.suite == suite;
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

    /// Records an additional attempt at a case.
    pub(super) fn earlier(&mut self, suite: &str, name: &str, status: Status) {
        let is_it = |found: &&mut FoundCase| found.case.case_id == name && found.suite == suite;
        if let Some(found) = self.found.iter_mut().rev().find(is_it) {
            found.earlier.push(status);
        }
    }

    /// Records a failure that is no case and that no total counts, such as a suite's setup. It is reported as a
    /// separate case.
    pub(super) fn end_uncounted(&mut self, at: usize, name: &str, status: Status) -> &mut CaseResult {
        self.push(at, "", name);
        let index = self.found.len() - 1;
        let found = &mut self.found[index];
        found.is_counted = false;
        found.case.status = status;
        &mut found.case
    }

    /// Records that the framework or its driver reports a failed run. It counts only if no failed case explains it.
    pub(super) fn fail(&mut self, why: impl Into<String>) {
        self.failures.push(why.into());
    }

    /// Records the first line that matches a failure pattern of the framework.
    pub(super) fn fail_on(&mut self, lines: &[Line], form: Option<&regex::Regex>) {
        self.fail_where(lines, |text| form.is_some_and(|form| form.is_match(text)));
    }

    /// Records the first line that satisfies a failure condition of the framework.
    pub(super) fn fail_where(&mut self, lines: &[Line], says_so: impl Fn(&str) -> bool) {
        if let Some(line) = lines.iter().find(|line| says_so(&line.text)) {
            self.fail(format!("it says that it failed: {}", shortened(line.text.trim())));
        }
    }

    /// Returns the case that began last and has not ended.
    pub(super) fn open(&self) -> Option<&FoundCase> {
        self.open.last().map(|index| &self.found[*index])
    }

    /// Returns the newest case with a name.
    pub(super) fn case(&mut self, name: &str) -> Option<&mut CaseResult> {
        self.found.iter_mut().rev().map(|found| &mut found.case).find(|case| case.case_id == name)
    }

    /// Marks a part of a line as the framework's own: no fault is searched in it, and if the line is truncated, it
    /// causes a doubt.
    pub(super) fn claim(&mut self, at: usize, part: Range<usize>) {
        self.claimed.insert(at, part);
    }

    /// Marks lines as belonging to cases, so that an assertion in them is explained by a case.
    pub(super) fn about_cases(&mut self, lines: Range<usize>) {
        self.within.push(lines);
    }

    /// Records a reason not to trust the result.
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    /// Adds to the number of announced cases.
    pub(super) fn announce(&mut self, count: usize) {
        self.announced = Some(self.announced.unwrap_or(0).saturating_add(count));
    }

    /// Adds to the totals of the summary.
    pub(super) fn sum_up(&mut self, total: usize, failed: usize) {
        let (before, failed_before) = self.summary.unwrap_or((0, 0));
        self.summary = Some((before.saturating_add(total), failed_before.saturating_add(failed)));
    }

    /// Finishes the parsing of console lines.
    pub(super) fn finish(mut self, lines: &[Line]) -> Parsed {
        let last = lines.len().saturating_sub(1);
        if lines.last().is_some_and(|line| !line.ended) && self.claimed.contains_key(&last) {
            self.doubt("the last line is not ended: it may be cut off");
        }
        self.look_for_faults(lines);
        self.fail_on(lines, banner::stopped());
        self.close()
    }

    /// Finishes the parsing of a text that is not a console.
    pub(super) fn close(mut self) -> Parsed {
        self.compare();
        // A failed case explains the failure lines; only without one do they count.
        if self.found.iter().any(|found| found.case.status.is_bad()) {
            self.failures.clear();
        }
        let running = self.open.last().copied();
        let attempts: Vec<Vec<Status>> = self.found.iter_mut().map(attempts).collect();
        let suites: Vec<String> = self.found.iter().map(|found| found.suite.clone()).collect();
        let mut cases: Vec<CaseResult> = self.found.into_iter().map(|found| tidy(found.case)).collect();
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

    /// Compares the announcement and the summary with the reported cases.
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

/// Returns the statuses of all attempts at a case, if they differ.
fn attempts(found: &mut FoundCase) -> Vec<Status> {
    let mut statuses = std::mem::take(&mut found.earlier);
    let last = found.case.status;
    // An unfinished attempt does not count: the case is missing.
    if last == Status::Missing || statuses.iter().all(|status| *status == last) {
        return Vec::new();
    }
    statuses.push(last);
    statuses
}

/// Trims the texts of a case to the kept lengths.
fn tidy(mut case: CaseResult) -> CaseResult {
    case.message = shortened(case.message.trim());
    case.stack.truncate(STACK_MAX);
    case
}

/// Returns the beginning of a text that is too long to be kept.
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

/// Returns a location, if the line is a number.
pub(super) fn place(file: &str, line: &str) -> Option<Location> {
    let line = line.parse().ok()?;
    (!file.is_empty()).then(|| Location { file: file.to_owned(), line })
}

/// Returns the first location in a text, as `file:line` or as `file(line):` of Windows compilers. A drive letter
/// belongs to the file.
pub(super) fn first_place(text: &str) -> Option<Location> {
    let form = form!(
        r#"(?P<file>(?:\b[A-Za-z]:[\\/])?[^\s:"'(\[]+\.[A-Za-z]\w{0,5})(?::(?P<line>\d{1,7})\b|\((?P<at>\d{1,7})(?:,\d+)?\) ?:)"#
    );
    let found = form?.captures(text)?;
    let line = found.name("line").or_else(|| found.name("at"))?;
    place(&found["file"], line.as_str())
}

/// Converts seconds in the notations of frameworks to milliseconds: `0.25`, `1,234.5`, and `1,5` with a decimal
/// comma. A single comma is a decimal comma: tests that take a thousand seconds are rarer than locales with that
/// notation.
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
