//! A report as one page of HTML: a template with automatic escaping, filled in with plain data. The page has no script and loads nothing.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use interlock_activity::report::{Part, Section};
use interlock_chart::counted;
use interlock_draw::{Theme, visited};
use interlock_journal::moment;
use interlock_runtime::Move;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde_json::{Value as Json, json};

use super::{
    Report, document,
    gather::File,
    sentence,
    shown::{self, Piece},
};
use crate::{failure::Failure, why};

const TEMPLATE: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");

/// Renders the report as an HTML page.
pub(super) fn write(report: &Report) -> Result<String, Failure> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment
        .render_named_str("report.html", TEMPLATE, Serde(page(report)))
        .map_err(|error| Failure::failed(format!("the report's template: {error:#}")))
}

/// Returns the data of the template. Only the style and the picture are not escaped, because this program generates
/// them.
fn page(report: &Report) -> Json {
    let files = &report.files;
    json!({
        "name": report.head.name,
        "phase": report.run.phase.word(),
        "style": STYLE,
        "sentence": code(&sentence::of(report)),
        "facts": document::facts(report),
        "sections": document::sections(report).iter().map(|it| section(it, files)).collect::<Vec<_>>(),
        "picture": picture(report),
        "caption": document::PICTURE_CAPTION,
        "moves": report.moves.iter().map(|step| explained(step, files)).collect::<Vec<_>>(),
        "files": files.iter().enumerate().map(|(at, it)| file(&report.head.name, at, it)).collect::<Vec<_>>(),
    })
}

/// Draws the visited states. The XML declaration of the picture is cut off, because it is not allowed within a page.
fn picture(report: &Report) -> String {
    let picture = visited::svg(report.follower.live.loaded.chart(), &report.visits, Theme::Auto);
    picture.find("<svg").map_or(String::new(), |at| picture[at..].to_owned())
}

fn section(section: &Section, files: &[File]) -> Json {
    let parts: Vec<Json> = section.parts.iter().map(|it| part(it, files)).collect();
    json!({ "title": section.title, "parts": parts })
}

fn part(part: &Part, files: &[File]) -> Json {
    match part {
        Part::Heading(text) => json!({ "kind": "heading", "text": text }),
        Part::Text(text) => json!({ "kind": "text", "text": code(text) }),
        Part::Commands(text) | Part::Code(text) => json!({ "kind": "code", "text": text }),
        Part::Picture { name, media, content } => match shown::is_picture(media) {
            true => json!({ "kind": "picture", "name": name, "data": data_url(media, content) }),
            false => json!({ "kind": "text", "text": code(name) }),
        },
        Part::Diff(text) => {
            let lines: Vec<Json> =
                text.lines().map(|line| json!({ "class": diff_class(line), "text": line })).collect();
            json!({ "kind": "diff", "lines": lines })
        }
        Part::Table(head, rows) => {
            let row = |cells: &Vec<String>| cells.iter().map(|text| cell(text, files)).collect::<Vec<_>>();
            json!({ "kind": "table", "head": head, "rows": rows.iter().map(row).collect::<Vec<_>>() })
        }
    }
}

/// Returns a picture as an address that contains it.
pub(super) fn data_url(media: &str, content: &[u8]) -> String {
    format!("data:{media};base64,{}", STANDARD.encode(content))
}

fn diff_class(line: &str) -> &'static str {
    match line.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        _ => "same",
    }
}

/// Splits a text at backquotes: the pieces between them are code.
pub(super) fn code(text: &str) -> Vec<Json> {
    let is_even = text.matches('`').count().is_multiple_of(2);
    let pieces = text.split('`').enumerate();
    match is_even {
        true => pieces.map(|(at, text)| json!({ "text": text, "is_code": at % 2 == 1 })).collect(),
        false => vec![json!({ "text": text, "is_code": false })],
    }
}

/// Splits a cell into links to files, code and text.
fn cell(text: &str, files: &[File]) -> Vec<Json> {
    let pieces = shown::pieces(text, files).into_iter().flat_map(|piece| match piece {
        Piece::Text(text) => code(&text),
        Piece::Link(text, file) => vec![json!({ "text": text, "is_code": false, "to": shown::anchor(file) })],
    });
    pieces.collect()
}

fn explained(step: &Move, files: &[File]) -> Json {
    let details = why::details(step).into_iter().map(|(label, words)| match (label, words.rsplit_once(' ')) {
        ("evidence", Some((name, hash))) => {
            json!({ "label": label, "text": name, "to": shown::anchor_of(hash, files) })
        }
        _ => json!({ "label": label, "text": shown::without_hashes(&words), "to": Json::Null }),
    });
    json!({
        "seq": step.seq,
        "time": moment::clock(step.at_ms),
        "way": why::way(step),
        "event": step.event.as_deref().unwrap_or_default(),
        "reason": shown::without_hashes(step.reason.as_deref().unwrap_or_default()),
        "details": details.collect::<Vec<_>>(),
    })
}

fn file(run: &str, at: usize, file: &File) -> Json {
    json!({
        "anchor": shown::anchor(at),
        "label": shown::label(file),
        "about": format!("{}, {}", file.evidence.media, counted(file.evidence.bytes, "byte", "bytes")),
        "command": shown::command(run, file),
        "text": file.text,
    })
}
