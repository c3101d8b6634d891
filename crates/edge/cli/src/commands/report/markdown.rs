//! Renders a report as Markdown.

use interlock_activity::report::Part;
use interlock_chart::counted;
use interlock_draw::visited;
use interlock_journal::moment;

use super::{
    Report, document,
    gather::File,
    sentence,
    shown::{self, Piece},
};
use crate::why;

/// Renders the report as a Markdown document.
pub(super) fn write(report: &Report) -> String {
    let mut text = format!("# {}\n\n{}\n\n| | |\n|---|---|\n", report.head.name, plain(&sentence::of(report)));
    for (name, value) in document::facts(report) {
        text.push_str(&format!("| {name} | {} |\n", cell(&value)));
    }
    for section in document::sections(report) {
        text.push_str(&format!("\n## {}\n", section.title));
        section.parts.iter().for_each(|shown| text.push_str(&part(shown, &report.files)));
    }
    let picture = visited::mermaid(report.follower.live.loaded.chart(), &report.visits);
    text.push_str(&format!("\n## Path\n\n```mermaid\n{picture}```\n\n{}\n", document::PICTURE_CAPTION));
    moves(report, &mut text);
    evidence(report, &mut text);
    text
}

fn part(part: &Part, files: &[File]) -> String {
    match part {
        Part::Heading(text) => format!("\n### {}\n", plain(text)),
        Part::Text(text) => format!("\n{}\n", plain(text)),
        Part::Commands(text) => format!("\n{fence}sh\n{}\n{fence}\n", text.trim_end(), fence = fence(text)),
        Part::Code(text) => format!("\n{fence}\n{}\n{fence}\n", text.trim_end(), fence = fence(text)),
        Part::Picture { name, .. } => format!("\n![{}](<{}>)\n", plain(name), name.replace(['<', '>', '\n'], "")),
        Part::Diff(text) => format!("\n{fence}diff\n{}\n{fence}\n", text.trim_end(), fence = fence(text)),
        Part::Table(head, rows) => {
            let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            let linked = |cells: &Vec<String>| cells.iter().map(|text| linked(text, files)).collect();
            let rows: String = rows.iter().map(|cells| row(linked(cells))).collect();
            let rule = row(vec!["---".to_owned(); head.len()]);
            format!("\n{}{rule}{rows}", row(head.clone()))
        }
    }
}

/// The most transitions that are listed and explained, the latest of a run.
const MOVES_MAX: usize = 200;

fn moves(report: &Report, text: &mut String) {
    let left_out = report.moves.len().saturating_sub(MOVES_MAX);
    let listed = &report.moves[left_out..];
    text.push_str("\n## Transitions\n\n| record | time | from → to | event | reason |\n|---|---|---|---|---|\n");
    for step in listed {
        let event = step.event.as_deref().unwrap_or_default();
        let reason = &shown::without_hashes(step.reason.as_deref().unwrap_or_default());
        let cells = [&moment::clock(step.at_ms), &why::way(step), event, reason].map(cell);
        text.push_str(&format!("| {} | {} |\n", step.seq, cells.join(" | ")));
    }
    if left_out > 0 {
        let earlier = counted(left_out as u64, "earlier transition is", "earlier transitions are");
        text.push_str(&format!("\n{earlier} left out; `interlock trace {}` lists them.\n", report.head.name));
    }
    text.push_str("\n## Why\n");
    for step in listed {
        text.push_str(&format!("\n### {} · {}\n\n", step.seq, why::way(step)));
        for (label, words) in why::details(step) {
            let words = match (label, words.rsplit_once(' ')) {
                ("evidence", Some((name, hash))) => match shown::anchor_of(hash, &report.files) {
                    Some(anchor) => format!("[{}](#{anchor})", plain(name)),
                    None => plain(name),
                },
                _ => plain(&shown::without_hashes(&words)),
            };
            text.push_str(&format!("- {label}: {}\n", words.replace('\n', "\n  ")));
        }
    }
}

fn evidence(report: &Report, text: &mut String) {
    if report.files.is_empty() {
        return;
    }
    text.push_str("\n## Evidence\n");
    let mut lines_left = QUOTED_LINES_MAX;
    for (at, file) in report.files.iter().enumerate() {
        text.push_str(&format!(
            "\n<a id=\"{}\"></a>\n\n### {}\n\n{}, {}; `{}` prints it\n",
            shown::anchor(at),
            plain(&shown::label(file)),
            plain(&file.evidence.media),
            counted(file.evidence.bytes, "byte", "bytes"),
            shown::command(&report.head.name, file),
        ));
        let Some(content) = &file.text else { continue };
        let (quoted, more) = quoted(content, &mut lines_left);
        if !quoted.is_empty() {
            let fence = fence(&quoted);
            text.push_str(&format!("\n{fence}text\n{quoted}\n{fence}\n"));
        }
        if more > 0 {
            text.push_str(&format!("\n{} left out.\n", counted(more, "line is", "lines are")));
        }
    }
}

/// The most lines that are quoted of one file and of all: a report is read, and the command beside a file prints the rest.
const FILE_LINES_MAX: usize = 40;
const QUOTED_LINES_MAX: usize = 600;

/// Returns the first lines of a text, within the lines that are left, and the number of those that are left out.
fn quoted(content: &str, lines_left: &mut usize) -> (String, usize) {
    let lines: Vec<&str> = content.trim_end().lines().collect();
    let most = FILE_LINES_MAX.min(*lines_left).min(lines.len());
    *lines_left -= most;
    (lines[..most].join("\n"), lines.len() - most)
}

/// Returns a code fence that is longer than any within the content.
fn fence(content: &str) -> String {
    let longest = content.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Formats a cell and replaces every hash of a file with a link.
fn linked(text: &str, files: &[File]) -> String {
    let pieces = shown::pieces(text, files).into_iter().map(|piece| match piece {
        Piece::Text(text) => cell(&text),
        Piece::Link(text, file) => format!("[{}](#{})", cell(&text), shown::anchor(file)),
    });
    pieces.collect()
}

/// Escapes text for a table cell: on one line, without cell separators or tags.
fn cell(text: &str) -> String {
    plain(text).replace('\n', " ").replace('|', "\\|")
}

/// Escapes text so that it contains no tags. Text between backquotes is unchanged, because Markdown shows code
/// literally.
fn plain(text: &str) -> String {
    let is_even = text.matches('`').count().is_multiple_of(2);
    let is_code = |at: usize| is_even && at % 2 == 1;
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| if is_code(at) { part.to_owned() } else { part.replace('<', "&lt;") });
    parts.collect::<Vec<_>>().join("`")
}
