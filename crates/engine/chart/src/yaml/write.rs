//! The pretty printer: writes a machine file in the layout that a person would use.
//!
//! The layout uses blocks, with small values on one line. Text is quoted if it would have another meaning without
//! quotes.

use super::{node::Scalar, scalar};
use crate::file::MachineFile;
use serde_json::{Map, Value as Json};

/// The maximum column of values that are written on one line.
const WIDTH: usize = 110;
/// The maximum nesting depth of values that are written on one line.
const FLOW_DEPTH_MAX: usize = 3;
/// Top-level keys whose values always take one line each.
const ALWAYS_BLOCKS: &[&str] = &["states", "events", "properties"];

/// Returns the text of a machine file.
pub fn write(file: &MachineFile) -> String {
    // The types have only string keys and JSON numbers, so this cannot fail.
    let json = serde_json::to_value(file).unwrap_or_default();
    let mut out = String::new();
    if let Json::Object(fields) = &json {
        for (key, value) in fields {
            let nested = matches!(value, Json::Object(_) | Json::Array(_));
            if nested && !out.is_empty() {
                out.push('\n');
            }
            entry(&mut out, 0, key, value);
        }
    }
    out
}

fn entry(out: &mut String, indent: usize, key: &str, value: &Json) {
    push_indent(out, indent);
    out.push_str(&quoted(key, true));
    out.push(':');
    after_key(out, indent, key, value);
}

/// Writes the part after `key:`, up to the end of its last line.
fn after_key(out: &mut String, indent: usize, key: &str, value: &Json) {
    let in_block = ALWAYS_BLOCKS.contains(&key) || !fits(value, indent + key.len() + 2);
    match value {
        Json::String(text) if is_block_text(text) => literal(out, indent + 2, text),
        Json::Object(fields) if in_block && !fields.is_empty() => {
            out.push('\n');
            block_map(out, indent + 2, fields);
        }
        Json::Array(items) if in_block && !items.is_empty() => {
            out.push('\n');
            items.iter().for_each(|item| list_item(out, indent + 2, item));
        }
        _ => {
            out.push(' ');
            out.push_str(&flow(value));
            out.push('\n');
        }
    }
}

fn block_map(out: &mut String, indent: usize, fields: &Map<String, Json>) {
    for (key, value) in fields {
        entry(out, indent, key, value);
    }
}

fn list_item(out: &mut String, indent: usize, item: &Json) {
    push_indent(out, indent);
    out.push('-');
    match item {
        Json::String(text) if is_block_text(text) => literal(out, indent + 2, text),
        Json::Object(fields) if !fits(item, indent + 2) && !fields.is_empty() => {
            // The first key is on the line of the dash.
            let mut block = String::new();
            block_map(&mut block, indent + 2, fields);
            out.push(' ');
            out.push_str(block.trim_start_matches(' '));
        }
        Json::Array(items) if !fits(item, indent + 2) && !items.is_empty() => {
            out.push('\n');
            items.iter().for_each(|item| list_item(out, indent + 2, item));
        }
        _ => {
            out.push(' ');
            out.push_str(&flow(item));
            out.push('\n');
        }
    }
}

fn push_indent(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Returns true if a list or a map may be written on one line.
fn fits(value: &Json, column: usize) -> bool {
    depth(value) <= FLOW_DEPTH_MAX && is_plain_enough(value) && column + flow(value).chars().count() <= WIDTH
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns true if the value contains no multi-line text and no states, which are easier to read on separate lines.
fn is_plain_enough(value: &Json) -> bool {
    match value {
        Json::String(text) => !text.contains('\n'),
        Json::Object(fields) => !fields.contains_key("states") && fields.values().all(is_plain_enough),
        Json::Array(items) => items.iter().all(is_plain_enough),
        _ => true,
    }
}

fn flow(value: &Json) -> String {
    match value {
        Json::String(text) => quoted(text, false),
        Json::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Json::Object(fields) => {
            let entries: Vec<_> =
                fields.iter().map(|(key, value)| format!("{}: {}", quoted(key, true), flow(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Returns true for multi-line text that a `|` block preserves exactly.
fn is_block_text(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let printable = |c: char| c == '\n' || (!c.is_control() && !is_line_break(c));
    let even = |line: &str| line.is_empty() || !line.trim().is_empty();
    let edges = |text: &str| !text.is_empty() && !text.starts_with([' ', '\n', '\t']) && !text.ends_with('\n');
    body.contains('\n') && edges(body) && body.lines().all(even) && text.chars().all(printable)
}

fn literal(out: &mut String, indent: usize, text: &str) {
    out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in text.lines() {
        if !line.is_empty() {
            push_indent(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Returns the text with the quotes it needs.
fn quoted(text: &str, key: bool) -> String {
    if is_plain(text) && (key || !is_word_elsewhere(text)) {
        return text.to_owned();
    }
    if text.chars().any(|c| c.is_control() || is_line_break(c)) || (text.contains('\'') && !text.contains(['"', '\\']))
    {
        return double_quoted(text);
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns true if the text needs no quotes, in a block and on one line.
fn is_plain(text: &str) -> bool {
    let first_good = text.chars().next().is_some_and(|c| !c.is_whitespace() && !"-?:,[]{}#&*!|>'\"%@`=<".contains(c));
    let inside_good = !text.chars().any(|c| c.is_control() || is_line_break(c) || ",[]{}".contains(c));
    let marks_good = !text.contains(": ") && !text.contains(" #") && !text.ends_with(':') && !text.contains(":\u{a0}");
    let scalar = Scalar { text: text.to_owned(), plain: true, span: Default::default(), verbatim: None };
    let is_text = matches!(scalar::typed(&scalar), Some(Json::String(_)));
    first_good
        && inside_good
        && marks_good
        && is_text
        && !text.ends_with(char::is_whitespace)
        && !text.starts_with("...")
}

/// Returns true for words that are booleans in YAML 1.1. They are quoted for such readers.
fn is_word_elsewhere(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "y" | "n" | "yes" | "no" | "on" | "off")
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_line_break(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
