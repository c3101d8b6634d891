//! Scans a log: matches rules against its lines and builds the findings.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

use regex::{Captures, Regex};
use serde::Serialize;

use crate::{
    plan, rank,
    table::{Pattern, Rule, Rules},
};

/// The maximum length of a line that is matched; the rest of a longer line is data, not a message.
const LINE_BYTES_MAX: usize = 2_000;

/// The maximum number of lines of a log that are scanned, half from its beginning and half from its end.
const LINES_MAX: usize = 40_000;

/// The maximum number of lines above a match that `above` searches.
const ABOVE_LINES_MAX: usize = 200;

/// The prefix that build servers put before each line of a log.
const TIME: &str = r"(?x) ^ (?:
    \[? \d{4}-\d\d-\d\d [T\ ] \d\d:\d\d:\d\d (?: [.,]\d+ )? (?: Z | [+-]\d\d:?\d\d )? \]? \ ? (?: \d\d[OE][\ +]? )?
    | \[? \d\d:\d\d:\d\d (?: \.\d{1,3} )? \]? \ {1,2}
    | \#\d+\ \d+\.\d+\ )? (?: \#\#\[ (?: error | warning | command | section ) \] )?";

/// The maximum number of findings in a log.
const FINDINGS_MAX: usize = 200;

/// A failure or anomaly that a log shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The class of the finding: `compile`, `hard_fault`, …
    pub class: String,
    /// A description of the fault, with the names that the log gives.
    pub cause: String,
    /// An action that may repair the fault.
    pub suggestion: String,
    /// The source file that the log names.
    pub file: Option<String>,
    /// The line of that file.
    pub line: Option<u32>,
    /// The text of the matching log line.
    pub excerpt: String,
    /// The id of the matching rule.
    pub rule: String,
    /// The line number in the log, from 1.
    pub at: usize,
    /// The distance to the cause: lower is nearer.
    #[serde(skip)]
    pub rank: u32,
}

impl Finding {
    /// Returns the place in the sources as `file:line`, or the file alone; `None` if the log names no file.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(self.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
    }

    /// Returns the place if the log names file and line, and the cause does not name the file.
    pub fn place_beside_cause(&self) -> Option<String> {
        let (file, _) = self.file.as_ref().zip(self.line)?;
        self.place().filter(|_| !self.cause.contains(file.as_str()))
    }

    /// Reads a finding that was stored as JSON at position `at` of its list. It ranks after the findings of the current
    /// scan.
    pub fn kept(found: &serde_json::Value, at: usize) -> Option<Self> {
        let text = |name: &str| found[name].as_str().map(str::to_owned);
        Some(Finding {
            class: text("class")?,
            cause: text("cause")?,
            suggestion: text("suggestion").unwrap_or_default(),
            file: text("file"),
            line: found["line"].as_u64().and_then(|line| u32::try_from(line).ok()),
            excerpt: text("excerpt").unwrap_or_default(),
            rule: text("rule").unwrap_or_default(),
            at: 0,
            rank: KEPT_RANK + u32::try_from(at).unwrap_or(0),
        })
    }
}

/// The rank of the first stored finding.
const KEPT_RANK: u32 = 1_000;

impl Rules {
    /// Returns the findings of a log, the most likely cause first.
    pub fn classify(&self, text: &str) -> Vec<Finding> {
        let (lines, table) = (lines(text), self.table());
        let mut found = Vec::new();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !table.skip.is_match(line.as_bytes())) {
            for number in table.any.matches(line.as_bytes()) {
                if found.len() < FINDINGS_MAX {
                    found.extend(table.rules.get(number).and_then(|rule| finding(rule, &lines, at)));
                }
            }
        }
        found.extend(plan::cut_short(&lines));
        rank::ranked(table, &lines, found)
    }
}

/// Returns the lines of a log without colours, carriage returns and the timestamps of build servers.
fn lines(text: &str) -> Vec<Cow<'_, str>> {
    let clean = |line| {
        let line = shortened(line);
        match line.contains('\u{1b}') {
            true => Cow::Owned(without_time(&without_colours(line)).to_owned()),
            false => Cow::Borrowed(without_time(line)),
        }
    };
    let all: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let skipped = all.len().saturating_sub(LINES_MAX);
    let (first, rest) = all.split_at(all.len().min(LINES_MAX / 2));
    first.iter().chain(rest.iter().skip(skipped)).map(|line| clean(line)).collect()
}

fn shortened(line: &str) -> &str {
    let end = (0..=LINE_BYTES_MAX.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    &line[..end]
}

/// Removes the timestamp, the kind and the number that GitHub, GitLab, Jenkins, Azure and BuildKit put before a line.
fn without_time(line: &str) -> &str {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TIME).ok());
    let is_possible = line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '[' | '#'));
    let found = FORM.as_ref().filter(|_| is_possible).and_then(|form| form.find(line));
    found.map_or(line, |found| &line[found.end()..])
}

fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
        } else if letters.next() == Some('[') {
            // An escape sequence ends with its first letter.
            let _ = letters.find(char::is_ascii_alphabetic);
        }
    }
    out
}

fn finding(rule: &Rule, lines: &[Cow<'_, str>], at: usize) -> Option<Finding> {
    let line = lines.get(at)?;
    if !rule.fits(line) {
        return None;
    }
    let mut names = BTreeMap::new();
    take_names(&rule.pattern, &rule.pattern.captures(line)?, &mut names);
    let is_near = rule.near.as_ref().is_none_or(|near| look_near(near, rule, lines, at, &mut names));
    if rule.needs_near && !is_near {
        return None;
    }
    if let Some(above) = &rule.above {
        let is_other = |line: &str| rule.above_unless.as_ref().is_some_and(|unless| unless.is_match(line));
        let lines = lines.iter().take(at).rev().take(ABOVE_LINES_MAX).filter(|line| !is_other(line));
        let found = lines.into_iter().find_map(|line| above.captures(line));
        found.into_iter().for_each(|captures| take_names(above, &captures, &mut names));
    }
    let named = |name: &str| names.get(name).or_else(|| names.get(&format!("{name}2"))).cloned();
    Some(Finding {
        class: rule.class.clone(),
        cause: filled(&rule.cause, &names),
        suggestion: suggestion(&rule.suggestion, &names),
        file: named("file"),
        line: named("line").and_then(|line| line.parse().ok()),
        excerpt: line.trim().to_owned(),
        rule: rule.id.clone(),
        at: at + 1,
        rank: rule.rank,
    })
}

fn take_names(pattern: &Pattern, captures: &Captures<'_>, names: &mut BTreeMap<String, String>) {
    for name in pattern.names() {
        if let Some(value) = captures.name(name) {
            names.entry(name.to_owned()).or_insert_with(|| value.as_str().trim().to_owned());
        }
    }
}

/// Matches the neighbouring lines: each name is taken from the nearest line that has it, following lines before
/// preceding ones.
fn look_near(
    near: &Pattern,
    rule: &Rule,
    lines: &[Cow<'_, str>],
    at: usize,
    names: &mut BTreeMap<String, String>,
) -> bool {
    let [from, to] = rule.near_lines;
    let is_other = |line: &str| rule.near_unless.as_ref().is_some_and(|unless| unless.is_match(line));
    let after = (from.max(0)..=to).map(|distance| at as i64 + distance);
    let before = (1..=(-from).max(0)).map(|distance| at as i64 - distance);
    let mut is_found = false;
    for place in after.chain(before) {
        let Some(line) = usize::try_from(place).ok().and_then(|place| lines.get(place)) else { continue };
        if let Some(captures) = near.captures(line).filter(|_| !is_other(line)) {
            is_found = true;
            take_names(near, &captures, names);
        }
    }
    is_found
}

/// Returns the suggestion; a generic one if the log does not provide the names that it needs.
fn suggestion(text: &str, names: &BTreeMap<String, String>) -> String {
    let is_known = |name: &str| names.contains_key(name) || names.contains_key(&format!("{name}2"));
    let is_lacking = ["file", "line"].iter().any(|name| text.contains(&format!("{{{name}}}")) && !is_known(name));
    if is_lacking { "Read the lines around it in the log.".to_owned() } else { filled(text, names) }
}

/// Replaces the `{names}` in a text; names that the log does not provide are left out.
fn filled(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(names.get(name).or_else(|| names.get(&format!("{name}2"))).map_or("", String::as_str));
        rest = after;
    }
    out.push_str(rest);
    out.trim().trim_end_matches([':', ',']).trim_end().to_owned()
}
