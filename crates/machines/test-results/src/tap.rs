//! TAP 12 to 14 and KTAP: a plan, numbered results, and indented subtests. Subtests stand before the result to which
//! they belong, or after it in braces. A runner may also show the TAP output of a program as comments (`# ok 1`):
//! those are subtests too.
//!
//! TAP has no final count: the plan shows what is missing, on every level. `comments.rs` decides to which result a
//! comment belongs.

mod comments;
mod level;
mod yaml;

use self::{
    comments::Convention,
    level::{Level, Point},
};
use super::{
    CaseResult, Parsed, Status,
    lines::{Line, lines},
    reading::{ParserState, add_line, first_place, form, place},
};

/// The greatest depth of nested subtests.
const DEPTH_MAX: usize = 64;

/// The number of columns of a tab stop.
const TAB_COLUMNS: usize = 8;

/// Parses the console output. In KTAP, every result has a number, and a kernel timestamp may precede the line.
pub(super) fn parse(text: &str, is_kernel: bool) -> Parsed {
    let mut lines = lines(text);
    if is_kernel {
        lines.iter_mut().for_each(without_time);
    }
    let mut reader = Tap { is_kernel, is_numbered: is_kernel, ..Tap::default() };
    for (at, line) in lines.iter().enumerate() {
        reader.line(at, line);
    }
    reader.finish(&lines)
}

fn without_time(line: &mut Line) {
    let form = form!(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?");
    if let Some(time) = form.and_then(|form| form.find(&line.text)) {
        line.text.drain(..time.end());
    }
}

/// Returns the column at which the text of a line begins, and the text.
fn indented(text: &str) -> (usize, &str) {
    let words = text.trim_start_matches([' ', '\t']);
    let step = |column: usize, c: char| if c == '\t' { (column / TAB_COLUMNS + 1) * TAB_COLUMNS } else { column + 1 };
    (text[..text.len() - words.len()].chars().fold(0, step), words)
}

#[derive(Default)]
struct Tap {
    reading: ParserState,
    /// The open levels, from the outermost to the current one.
    levels: Vec<Level>,
    is_kernel: bool,
    /// True if results have numbers; a line without one is then ordinary output.
    is_numbered: bool,
    /// True if every line must be TAP (`pragma +strict`).
    is_strict: bool,
    /// The column of comments that contain the TAP output of another program.
    commented: Option<usize>,
    /// The columns of results whose braces with subtests are still open.
    braces: Vec<usize>,
    yaml: Option<yaml::Block>,
}

impl Tap {
    fn line(&mut self, at: usize, line: &Line) {
        let text = line.text.as_str();
        if self.in_yaml(text) {
            return;
        }
        let (column, words) = self.uncommented(text);
        let is_used = self.version(column, words)
            || self.pragma(words)
            || self.plan(column, words)
            || self.point(column, words)
            || self.closing_brace(column, words)
            || self.bail_out(words)
            || self.total(column, words)
            || self.comment(column, words);
        if is_used {
            self.reading.claim(at, text.len() - words.len()..text.len());
        } else if self.is_strict && !words.starts_with('#') {
            self.is_strict = false;
            self.reading.doubt(format!("every line must be TAP (pragma +strict), and this one is not: {words}"));
        }
    }

    fn in_yaml(&mut self, text: &str) -> bool {
        if let Some(block) = &mut self.yaml {
            if block.take(text) {
                return true;
            }
            self.end_yaml();
            return text.trim() == "...";
        }
        let has_point = self.levels.last().is_some_and(|level| !level.points.is_empty());
        if has_point && text.trim() == "---" && text.starts_with([' ', '\t']) {
            self.yaml = Some(yaml::Block::new(text));
        }
        self.yaml.is_some()
    }

    fn end_yaml(&mut self) {
        let point = self.levels.last_mut().and_then(|level| level.points.last_mut());
        if let (Some(block), Some(point)) = (self.yaml.take(), point) {
            block.tell(&mut point.case);
        }
    }

    /// Returns the column and the text of a line. The TAP output of a program that its runner shows as comments
    /// begins with a version line and counts as indented further than the runner's own.
    fn uncommented<'t>(&mut self, text: &'t str) -> (usize, &'t str) {
        let (column, words) = indented(text);
        let Some(inner) = words.strip_prefix("# ") else { return (column, words) };
        let (inner_column, inner) = indented(inner);
        if is_version(inner) {
            self.commented.get_or_insert(column);
        }
        match self.commented == Some(column) {
            true => (column + "# ".len() + inner_column, inner),
            false => (column, words),
        }
    }

    fn version(&mut self, column: usize, words: &str) -> bool {
        // The version line begins another document, unless it belongs to a subtest.
        let is_next = || self.levels.first().is_some_and(|level| level.indent >= column && !level.is_empty());
        if is_version(words) && is_next() {
            self.flush();
        }
        is_version(words)
    }

    fn pragma(&mut self, words: &str) -> bool {
        let Some(found) = form!(r"^pragma +([+-])(\w+)$").and_then(|form| form.captures(words)) else { return false };
        if &found[2] == "strict" {
            self.is_strict = &found[1] == "+";
        }
        true
    }

    fn plan(&mut self, column: usize, words: &str) -> bool {
        let form = form!(r"^1\.\.(\d+)(?:\s*#\s*(?P<about>.*))?$");
        let Some(found) = form.and_then(|form| form.captures(words)) else { return false };
        let count = found[1].parse().unwrap_or(usize::MAX);
        let about = found.name("about").map_or("", |about| about.as_str());
        let level = self.level(column);
        let is_second = level.plan.replace(count).is_some();
        level.planned_after = level.points.len();
        if count == 0 && about.to_ascii_lowercase().starts_with("skip") {
            level.skipped = about.to_owned();
        }
        if is_second {
            self.reading.doubt("there are two plans");
        }
        true
    }

    fn point(&mut self, column: usize, words: &str) -> bool {
        let form = form!(r"^(?P<not>not )?ok(?: +(?P<number>\d+))?(?:$| +(?:- +)?(?P<rest>.*)$|(?P<end>)$)");
        let Some(found) = form.and_then(|form| form.captures(words)) else { return false };
        let number: Option<usize> = found.name("number").and_then(|number| number.as_str().parse().ok());
        if number.is_none() && self.is_numbered {
            return false;
        }
        if number.is_some() && !self.is_numbered {
            self.is_numbered = true;
            self.levels.iter_mut().for_each(Level::forget_unnumbered);
        }
        let rest = found.name("rest").map_or("", |rest| rest.as_str()).trim_end();
        let before_brace = rest.strip_suffix('{').filter(|rest| rest.is_empty() || rest.ends_with(' '));
        let point = Point::new(found.name("not").is_none(), number, before_brace.unwrap_or(rest));
        let inner = self.pop_deeper(column);
        let level = self.level(column);
        let doubt = level.add(point, inner);
        self.reading.doubts.extend(doubt);
        self.commented = self.commented.filter(|commented| *commented < column);
        if before_brace.is_some() {
            self.braces.push(column);
        }
        true
    }

    /// Handles the end of the subtests that follow their result.
    fn closing_brace(&mut self, column: usize, words: &str) -> bool {
        if words != "}" || self.braces.last() != Some(&column) {
            return false;
        }
        self.braces.pop();
        let inner = self.pop_deeper(column);
        if let Some(point) = self.level(column).points.last_mut() {
            point.hold(inner);
        }
        true
    }

    fn bail_out(&mut self, words: &str) -> bool {
        let Some(why) = words.strip_prefix("Bail out!") else { return false };
        self.reading.doubt(format!("it gave up: {}", why.trim()));
        true
    }

    /// Compares the totals that a program prints at its end with its results.
    fn total(&mut self, column: usize, words: &str) -> bool {
        let Some(total) = comments::total(words) else { return false };
        if total.is_failed {
            self.reading.fail(format!("its own count says that it failed: {words}"));
        }
        let reported = self.levels.iter().find(|level| level.indent == column).map(|level| level.points.len());
        if let (Some(count), Some(reported)) = (total.count, reported)
            && count != reported
        {
            self.reading.doubt(format!("cases by its own count: {count}, reported: {reported}"));
        }
        true
    }

    /// Reads `# Subtest: name`, which names the owner of the following subtests. Other comments are kept for the
    /// result to which they belong. They can report faults, so they are not claimed as framework output.
    fn comment(&mut self, column: usize, words: &str) -> bool {
        if let Some(name) = words.strip_prefix("# Subtest: ") {
            self.level(column).name = name.trim().to_owned();
            return true;
        }
        if words.starts_with('#') || column > 0 {
            let own = self.levels.iter().position(|level| level.indent == column);
            let level = own.or(self.levels.len().checked_sub(1)).and_then(|index| self.levels.get_mut(index));
            if let Some(level) = level {
                add_line(&mut level.said, words.trim_start_matches('#').trim());
            }
        }
        false
    }

    /// Returns the level of a column. Deeper levels without a final result become orphans of it.
    fn level(&mut self, column: usize) -> &mut Level {
        if let Some(index) = self.levels.iter().position(|level| level.indent == column) {
            let inner = self.levels.split_off(index + 1);
            let own = &mut self.levels[index];
            inner.into_iter().for_each(|level| own.orphans.push(level));
            return &mut self.levels[index];
        }
        let at = self.levels.iter().position(|level| level.indent > column).unwrap_or(self.levels.len()).min(DEPTH_MAX);
        self.levels.insert(at, Level { indent: column, ..Level::default() });
        &mut self.levels[at]
    }

    /// Removes and returns the level to the right of a column: the subtests of the result at that column.
    fn pop_deeper(&mut self, column: usize) -> Option<Level> {
        let first = self.levels.iter().position(|level| level.indent > column)?;
        let mut deeper = self.levels.split_off(first).into_iter();
        let mut level = deeper.next()?;
        level.orphans.extend(deeper);
        Some(level)
    }

    fn flush(&mut self) {
        self.commented = None;
        if !std::mem::take(&mut self.braces).is_empty() {
            self.reading.doubt("the brace behind a result is never closed");
        }
        let mut levels = std::mem::take(&mut self.levels).into_iter();
        if let Some(mut outermost) = levels.next() {
            outermost.orphans.extend(levels);
            let usual = if self.is_kernel { Convention::Above } else { Convention::Below };
            comments::give_out(&mut outermost, usual);
            outermost.tell(&mut self.reading, "", true);
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        if self.yaml.is_some() {
            self.end_yaml();
            self.reading.doubt("it ends in the middle of a block of details");
        }
        self.flush();
        self.reading.fail_where(lines, says_not_ok);
        self.reading.finish(lines)
    }
}

fn is_version(words: &str) -> bool {
    form!(r"^K?TAP version \d+$").is_some_and(|form| form.is_match(words))
}

/// Returns true for a line with `not ok`, in a comment too, and for the failing totals of `prove`.
fn says_not_ok(text: &str) -> bool {
    let is = |form: Option<&'static regex::Regex>| form.is_some_and(|form| form.is_match(text));
    let is_result = is(form!(r"^[\s#]*not ok(?:\W|$)")) && !is(form!(r"(?i)#\s*(?:todo|skip|xfail)\b"));
    is_result || is(form!(r"^Result: FAIL\b|^\s*Failed \d+/\d+ subtests|Dubious, test returned \d"))
}

/// Sets the location that a message names: `file:line`, or the notation of Perl and bats.
fn locate(case: &mut CaseResult) {
    if case.status != Status::Passed && case.location.is_none() {
        let words =
            form!(r"\b(?:at|file) (?P<file>\S+?),? line (?P<line>\d+)").and_then(|form| form.captures(&case.message));
        let words = words.and_then(|found| place(&found["file"], &found["line"]));
        case.location = words.or_else(|| first_place(&case.message));
    }
}
