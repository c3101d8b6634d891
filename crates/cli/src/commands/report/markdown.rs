//! A report as Markdown.

use interlock_chart::counted;

use super::{
    HASH_CHARS_SHOWN, Report, hash,
    story::{Part, Story},
};
use crate::why;

/// Writes it.
pub(super) fn write(report: &Report) -> String {
    let mut text = format!("# {}\n\n| | |\n|---|---|\n", report.head.name);
    for (name, value) in report.facts() {
        text.push_str(&format!("| {name} | {} |\n", cell(&value)));
    }
    for section in Story::of(report).iter().flat_map(Story::sections) {
        text.push_str(&format!("\n## {}\n", section.title));
        section.parts.iter().for_each(|shown| text.push_str(&part(shown)));
    }
    text.push_str("\n## What happened\n\n| record | time | from → to | event | reason |\n|---|---|---|---|---|\n");
    for step in report.moves() {
        let time = interlock_journal::moment::clock(step.at_ms);
        let (event, reason) = (step.event.as_deref().unwrap_or_default(), step.reason.as_deref().unwrap_or_default());
        text.push_str(&format!(
            "| {} | {time} | {} | {} | {} |\n",
            step.seq,
            cell(&why::way(step)),
            cell(event),
            cell(reason)
        ));
    }
    text.push_str("\n## Why\n");
    for step in report.moves() {
        text.push_str(&format!("\n### {} · {}\n\n", step.seq, why::way(step)));
        for (label, words) in why::details(step) {
            let words = match (label, words.rsplit_once(' ')) {
                ("evidence", Some((name, hash))) => format!("[{}](#{hash})", plain(name)),
                _ => plain(&words),
            };
            text.push_str(&format!("- {label}: {}\n", words.replace('\n', "\n  ")));
        }
    }
    evidence(report, &mut text);
    text
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("\n{}\n", plain(text)),
        Part::Code(text) => format!("\n{fence}sh\n{}\n{fence}\n", text.trim_end(), fence = fence(text)),
        Part::Diff(text) => format!("\n{fence}diff\n{}\n{fence}\n", text.trim_end(), fence = fence(text)),
        Part::Table(head, rows) => {
            let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            let rows: String =
                rows.iter().map(|cells| row(cells.iter().map(|text| linked(&cell(text))).collect())).collect();
            let rule = row(vec!["---".to_owned(); head.len()]);
            format!("\n{}{rule}{rows}", row(head.iter().map(ToString::to_string).collect()))
        }
    }
}

fn evidence(report: &Report, text: &mut String) {
    if report.files.is_empty() {
        return;
    }
    text.push_str("\n## Evidence\n");
    for file in &report.files {
        let evidence = &file.evidence;
        text.push_str(&format!(
            "\n<a id=\"{hash}\"></a>\n\n### {} (record {})\n\n`{hash}`, {}, {}",
            evidence.name,
            file.seq,
            evidence.media,
            counted(evidence.bytes, "byte", "bytes"),
            hash = evidence.hash
        ));
        match &file.text {
            Some(content) => {
                let fence = fence(content);
                text.push_str(&format!("\n\n{fence}text\n{}\n{fence}\n", content.trim_end()));
            }
            None => text.push_str(&format!("; `interlock evidence {}` prints it\n", evidence.hash)),
        }
    }
}

/// Longer than any fence within.
fn fence(content: &str) -> String {
    let longest = content.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// A hash of evidence leads there.
fn linked(cell: &str) -> String {
    let shown = cell.split(' ').map(|word| match hash(word) {
        Some((hash, rest)) => format!("[`{}`](#{hash}){rest}", &hash[..HASH_CHARS_SHOWN]),
        None => word.to_owned(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Within a table: on one line, and neither a new cell nor a tag.
fn cell(text: &str) -> String {
    plain(text).replace('\n', " ").replace('|', "\\|")
}

/// A reason that looks like a tag is still a reason. Between marks of code it is shown as it is anyway.
fn plain(text: &str) -> String {
    let is_even = text.matches('`').count().is_multiple_of(2);
    let is_code = |at: usize| is_even && at % 2 == 1;
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| if is_code(at) { part.to_owned() } else { part.replace('<', "&lt;") });
    parts.collect::<Vec<_>>().join("`")
}
