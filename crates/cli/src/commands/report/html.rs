//! A report as one page that needs nothing else: the picture and the files are in it, and it is light or dark as the reader's system is.

use interlock_chart::counted;
use interlock_journal::moment;
use interlock_runtime::Move;

use super::{
    File, HASH_CHARS_SHOWN, Report, hash,
    story::{Part, Story},
};
use crate::why;

const STYLE: &str = include_str!("report.css");

/// Writes it.
pub(super) fn write(report: &Report) -> String {
    let name = escape(&report.head.name);
    let facts: String = report.facts().iter().map(|(name, value)| row(name, value)).collect();
    let timeline: String = report.moves().enumerate().map(|(at, step)| timeline_row(at, step)).collect();
    let whys: String = report.moves().enumerate().map(|(at, step)| reasons(at, step)).collect();
    let files: String = report.files.iter().map(file).collect();
    let evidence = if files.is_empty() { String::new() } else { format!("<h2>Evidence</h2>\n{files}") };
    let story: String =
        Story::of(report).iter().flat_map(Story::sections).map(|it| section(it.title, &it.parts)).collect();
    let phase = report.follower.phase().word();
    // The picture is a document of its own; within a page its declaration would stand in the wrong place.
    let picture = report.picture();
    let picture = picture.find("<svg").map_or(picture.as_str(), |at| &picture[at..]);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>{name} <span class=\"phase {phase}\">{phase}</span></h1>\n<table class=\"facts\">\n{facts}</table>\n{story}\
         <h2>The way it took</h2>\n<figure>{picture}</figure>\n\
         <h2>What happened</h2>\n<table class=\"timeline\">\n\
         <tr><th>record</th><th>time (UTC)</th><th>from → to</th><th>event</th><th>reason</th></tr>\n{timeline}</table>\n\
         <h2>Why</h2>\n{whys}{evidence}</body>\n</html>\n"
    )
}

fn section(title: &str, parts: &[Part]) -> String {
    let parts: String = parts.iter().map(part).collect();
    format!("<h2>{}</h2>\n{parts}", escape(title))
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Part::Code(text) => format!("<pre>{}</pre>\n", escape(text)),
        Part::Diff(text) => format!("<pre class=\"diff\">{}</pre>\n", text.lines().map(diff_line).collect::<String>()),
        Part::Table(head, rows) => {
            let head: String = head.iter().map(|cell| format!("<th>{}</th>", escape(cell))).collect();
            let row =
                |cells: &Vec<String>| cells.iter().map(|text| format!("<td>{}</td>", cell(text))).collect::<String>();
            let rows: String = rows.iter().map(|cells| format!("<tr>{}</tr>\n", row(cells))).collect();
            format!("<table>\n<tr>{head}</tr>\n{rows}</table>\n")
        }
    }
}

fn diff_line(line: &str) -> String {
    let class = match line.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        _ => "same",
    };
    format!("<span class=\"{class}\">{}</span>\n", escape(line))
}

/// A hash of evidence leads there.
fn cell(text: &str) -> String {
    let shown = text.split(' ').map(|word| match hash(word) {
        Some((hash, rest)) => {
            format!("<a href=\"#{hash}\"><code>{}</code></a>{rest}", &hash[..HASH_CHARS_SHOWN])
        }
        None => escape(word),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn row(name: &str, value: &str) -> String {
    format!("<tr><th>{}</th><td>{}</td></tr>\n", escape(name), escape(value))
}

fn timeline_row(at: usize, step: &Move) -> String {
    format!(
        "<tr><td><a href=\"#m{at}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        step.seq,
        moment::clock(step.at_ms),
        escape(&why::way(step)),
        escape(step.event.as_deref().unwrap_or_default()),
        escape(step.reason.as_deref().unwrap_or_default()),
    )
}

fn reasons(at: usize, step: &Move) -> String {
    let details = why::details(step).into_iter().map(|(label, words)| match label {
        "evidence" => {
            let (name, hash) = words.rsplit_once(' ').unwrap_or(("file", &words));
            format!("<dt>{label}</dt><dd><a href=\"#{hash}\">{}</a></dd>\n", escape(name))
        }
        _ => format!("<dt>{label}</dt><dd>{}</dd>\n", escape(&words)),
    });
    let details: String = details.collect();
    format!(
        "<section id=\"m{at}\"><h3>{} · {}</h3>\n<dl>\n{details}</dl></section>\n",
        step.seq,
        escape(&why::way(step))
    )
}

fn file(file: &File) -> String {
    let evidence = &file.evidence;
    let content = match &file.text {
        Some(text) => format!("<details open=\"open\"><summary>content</summary><pre>{}</pre></details>", escape(text)),
        None => format!("<p><code>interlock evidence {}</code> prints it</p>", evidence.hash),
    };
    // A file that two records refer to is shown with both; links lead to the first.
    format!(
        "<section id=\"{hash}\"><h3>{} (record {})</h3>\n<p><code>{hash}</code>, {}, {}</p>\n{content}</section>\n",
        escape(&evidence.name),
        file.seq,
        escape(&evidence.media),
        counted(evidence.bytes, "byte", "bytes"),
        hash = evidence.hash,
    )
}

/// Text within a page. What no page may contain becomes a mark.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(letter),
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}
