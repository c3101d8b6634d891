//! The YAML block of details below a TAP result. Only the message, location, stack and duration are read.

use super::{CaseResult, form};
use crate::{Location, reading::add_line};

/// The largest number of lines of a block.
const LINES_MAX: usize = 1000;

/// A block that is being read.
pub(super) struct Block {
    indent: usize,
    lines: Vec<String>,
}

impl Block {
    /// Begins a block at its first line.
    pub(super) fn new(line: &str) -> Block {
        Block { indent: indent(line), lines: Vec::new() }
    }

    /// Takes a line of the block; returns false for its end and for a line outside of it.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let is_inside = indent(line) >= self.indent && line.trim() != "..." && self.lines.len() < LINES_MAX;
        if is_inside {
            self.lines.push(line[self.indent..].to_owned());
        }
        is_inside
    }

    /// Copies the details into the case.
    pub(super) fn tell(self, case: &mut CaseResult) {
        let mut key = String::new();
        let (mut file, mut line) = (String::new(), None);
        let mut message = String::new();
        for text in &self.lines {
            let found = form!(r"^ *-? *(?P<key>[A-Za-z_]+):(?: +(?P<value>.*))?$").and_then(|form| form.captures(text));
            let value = found.as_ref().map(|found| found.name("value").map_or("", |value| value.as_str()));
            if let Some(found) = &found {
                key = found["key"].to_owned();
            }
            let value = unquoted(value.unwrap_or(text).trim());
            match key.as_str() {
                _ if matches!(value, "|" | "|-" | ">" | ">-" | "") => {}
                "message" | "error" => add_line(&mut message, value),
                "file" | "fileName" => file = value.to_owned(),
                "line" | "lineNumber" => line = value.parse().ok(),
                "stack" => case.stack.push(value.to_owned()),
                "duration_ms" => case.duration_ms = value.split('.').next().and_then(|ms| ms.parse().ok()),
                _ => {}
            }
        }
        if !message.is_empty() {
            case.message = message;
        }
        if let (false, Some(line)) = (file.is_empty(), line) {
            case.location = Some(Location { file, line });
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}
