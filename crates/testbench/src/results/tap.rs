//! TAP 12 to 14 and KTAP: a plan, numbered results, subtests further to the right that come before the result they belong to.
//!
//! Neither says at its end how many there were: what is missing is told by the plan, on every level.

mod level;
mod yaml;

use self::level::{Level, Point};
use super::{
    Case, Parsed, Status,
    lines::{Line, lines},
    reading::{Reading, add_line, first_place, form},
};

/// How deeply subtests are told apart.
const DEPTH_MAX: usize = 64;

/// Reads the console. In KTAP every result has a number, and a kernel's time may stand before the line.
pub(super) fn parse(text: &str, is_kernel: bool) -> Parsed {
    let mut lines = lines(text);
    if is_kernel {
        lines.iter_mut().for_each(without_time);
    }
    let mut reader = Tap { is_numbered: is_kernel, ..Tap::default() };
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

#[derive(Default)]
struct Tap {
    reading: Reading,
    /// From the outermost to the one that is being read.
    levels: Vec<Level>,
    /// Whether results without a number are somebody else's lines.
    is_numbered: bool,
    yaml: Option<yaml::Block>,
}

impl Tap {
    fn line(&mut self, at: usize, line: &Line) {
        let text = line.text.as_str();
        if self.in_yaml(text) {
            return;
        }
        let indent = text.len() - text.trim_start_matches(' ').len();
        let words = &text[indent..];
        let is_used = self.version(indent, words)
            || self.plan(indent, words)
            || self.point(indent, words)
            || self.bail_out(words)
            || self.comment(indent, words);
        if is_used {
            self.reading.claim(at, indent..text.len());
        }
    }

    fn in_yaml(&mut self, text: &str) -> bool {
        if let Some(block) = &mut self.yaml {
            if block.take(text) {
                return true;
            }
            let block = self.yaml.take();
            if let (Some(block), Some(point)) =
                (block, self.levels.last_mut().and_then(|level| level.points.last_mut()))
            {
                block.tell(&mut point.case);
            }
            return text.trim() == "...";
        }
        let has_point = self.levels.last().is_some_and(|level| !level.points.is_empty());
        if has_point && text.trim() == "---" && text.starts_with(' ') {
            self.yaml = Some(yaml::Block::new(text));
        }
        self.yaml.is_some()
    }

    fn version(&mut self, indent: usize, words: &str) -> bool {
        let is_version = form!(r"^K?TAP version \d+$").is_some_and(|form| form.is_match(words));
        if is_version {
            // Another document follows one that was there, or a subtest says its version.
            let is_next = self.levels.first().is_some_and(|level| level.indent >= indent && !level.is_empty());
            if is_next {
                self.flush();
            }
        }
        is_version
    }

    fn plan(&mut self, indent: usize, words: &str) -> bool {
        let form = form!(r"^1\.\.(\d+)(?:\s*#\s*(?P<about>.*))?$");
        let Some(found) = form.and_then(|form| form.captures(words)) else { return false };
        let count = found[1].parse().unwrap_or(usize::MAX);
        let about = found.name("about").map_or("", |about| about.as_str());
        let level = self.level(indent);
        let is_second = level.plan.replace(count).is_some();
        if count == 0 && about.to_ascii_lowercase().starts_with("skip") {
            level.skipped = about.to_owned();
        }
        if is_second {
            self.reading.doubt("there are two plans");
        }
        true
    }

    fn point(&mut self, indent: usize, words: &str) -> bool {
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
        let point =
            Point::new(found.name("not").is_none(), number, found.name("rest").map_or("", |rest| rest.as_str()));
        let inner = self.pop_deeper(indent);
        let level = self.level(indent);
        let doubt = level.add(point, inner);
        self.reading.doubts.extend(doubt);
        true
    }

    fn bail_out(&mut self, words: &str) -> bool {
        let Some(why) = words.strip_prefix("Bail out!") else { return false };
        self.reading.doubt(format!("it gave up: {}", why.trim()));
        true
    }

    /// What is said between results belongs to the next one; `# Subtest: name` says whose subtests follow. Comments can report faults, so they are
    /// nobody's own.
    fn comment(&mut self, indent: usize, words: &str) -> bool {
        if let Some(name) = words.strip_prefix("# Subtest: ") {
            self.level(indent).name = name.trim().to_owned();
            return true;
        }
        if let Some(level) = self.levels.last_mut()
            && (words.starts_with('#') || indent > 0)
        {
            add_line(&mut level.said, words.trim_start_matches('#').trim());
        }
        false
    }

    /// The level of an indentation; what is deeper and was never summed up by its own result stays below it.
    fn level(&mut self, indent: usize) -> &mut Level {
        if let Some(index) = self.levels.iter().position(|level| level.indent == indent) {
            let inner = self.levels.split_off(index + 1);
            let own = &mut self.levels[index];
            inner.into_iter().for_each(|level| own.orphans.push(level));
            return &mut self.levels[index];
        }
        let at = self.levels.iter().position(|level| level.indent > indent).unwrap_or(self.levels.len()).min(DEPTH_MAX);
        self.levels.insert(at, Level { indent, ..Level::default() });
        &mut self.levels[at]
    }

    /// The level to the right of an indentation: the subtests of the result that stands there.
    fn pop_deeper(&mut self, indent: usize) -> Option<Level> {
        let first = self.levels.iter().position(|level| level.indent > indent)?;
        let mut deeper = self.levels.split_off(first).into_iter();
        let mut level = deeper.next()?;
        level.orphans.extend(deeper);
        Some(level)
    }

    fn flush(&mut self) {
        let mut levels = std::mem::take(&mut self.levels).into_iter();
        if let Some(mut outermost) = levels.next() {
            outermost.orphans.extend(levels);
            outermost.tell(&mut self.reading, "", true);
        }
    }

    fn finish(mut self, lines: &[Line]) -> Parsed {
        if let (Some(block), Some(point)) =
            (self.yaml.take(), self.levels.last_mut().and_then(|level| level.points.last_mut()))
        {
            block.tell(&mut point.case);
            self.reading.doubt("it ends in the middle of a block of details");
        }
        self.flush();
        self.reading.finish(lines)
    }
}

/// The place that a message names.
fn locate(case: &mut Case) {
    if case.status != Status::Passed && case.location.is_none() {
        case.location = first_place(&case.message);
    }
}
