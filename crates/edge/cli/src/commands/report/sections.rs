//! The first sentence and the sections of a report as JSON, for the server's page. The page shows every text as text.
//!
//! The answer has a bound, whatever the run contains. Whatever is left out is said in its place.

use interlock_activity::report::{Part, Section};
use interlock_chart::counted;
use interlock_journal::Evidence;
use serde_json::{Value as Json, json};

use super::{
    Report, document,
    gather::File,
    html::{code, data_url},
    sentence,
    shown::{self, Piece},
};
use crate::escape;

/// The number of bytes of text in an answer.
const TEXT_BYTES_MAX: usize = 2 * 1_024 * 1_024;

/// The number of rows of a table that are shown.
const ROWS_MAX: usize = 200;

/// Returns the sections of a report.
pub(super) fn write(report: &Report) -> Json {
    let mut writer = Writer { files: &report.files, text_bytes: TEXT_BYTES_MAX, left_out: 0 };
    let sections: Vec<Json> = document::sections(report).iter().map(|section| writer.section(section)).collect();
    let sentence = code(&escape::shown(&sentence::of(report)));
    json!({ "run": report.head.name, "seq": report.follower.live.seq, "sentence": sentence, "sections": sections, "left_out": writer.left_out })
}

struct Writer<'r> {
    files: &'r [File],
    /// The number of bytes of text that still fit.
    text_bytes: usize,
    /// The number of parts that are left out.
    left_out: u64,
}

impl Writer<'_> {
    fn section(&mut self, section: &Section) -> Json {
        let before = self.left_out;
        let mut parts: Vec<Json> = section.parts.iter().filter_map(|part| self.part(part)).collect();
        if self.left_out > before {
            let left = counted(self.left_out - before, "part is", "parts are");
            parts.push(note(&format!("{left} left out, because this report is long. Download it to see all.")));
        }
        json!({ "title": escape::shown(&section.title), "parts": parts })
    }

    /// Returns a part, or `None` if it does not fit.
    fn part(&mut self, part: &Part) -> Option<Json> {
        let bytes = match part {
            Part::Heading(text) | Part::Text(text) | Part::Commands(text) | Part::Diff(text) | Part::Code(text) => {
                text.len()
            }
            Part::Table(_, rows) => rows.iter().take(ROWS_MAX).flatten().map(String::len).sum(),
            // The activity that adds pictures bounds them.
            Part::Picture { .. } => 0,
        };
        match self.text_bytes.checked_sub(bytes) {
            Some(left) => self.text_bytes = left,
            None => {
                self.left_out += 1;
                return None;
            }
        }
        Some(match part {
            Part::Heading(text) => json!({ "kind": "heading", "text": escape::shown(text) }),
            Part::Text(text) => note(text),
            Part::Commands(text) | Part::Code(text) => json!({ "kind": "code", "text": escape::shown(text) }),
            Part::Diff(text) => json!({ "kind": "diff", "text": escape::shown(text) }),
            Part::Picture { name, media, content } if shown::is_picture(media) => {
                json!({ "kind": "picture", "name": escape::shown(name), "data": data_url(media, content) })
            }
            Part::Picture { name, .. } => note(name),
            Part::Table(head, rows) => self.table(head, rows),
        })
    }

    fn table(&self, head: &[String], rows: &[Vec<String>]) -> Json {
        let row = |cells: &Vec<String>| cells.iter().map(|text| self.cell(text)).collect::<Vec<_>>();
        let shown: Vec<_> = rows.iter().take(ROWS_MAX).map(row).collect();
        json!({ "kind": "table", "head": head, "rows": shown, "more": rows.len() - shown.len() })
    }

    fn cell(&self, text: &str) -> Vec<Json> {
        let pieces = shown::pieces(text, self.files).into_iter().flat_map(|piece| match piece {
            Piece::Text(text) => code(&escape::shown(&text)),
            Piece::Link(text, file) => vec![json!({ "text": text, "file": self.file(file) })],
        });
        pieces.collect()
    }

    fn file(&self, at: usize) -> Option<&Evidence> {
        self.files.get(at).map(|file| &file.evidence)
    }
}

fn note(text: &str) -> Json {
    json!({ "kind": "text", "text": code(&escape::shown(text)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sections_are_cut_and_say_so() {
        let mut writer = Writer { files: &[], text_bytes: 20, left_out: 0 };
        let parts = vec![Part::Code("x".repeat(15)), Part::Code("y".repeat(15)), Part::Text("`z`".into())];
        let written = writer.section(&Section::new("Output", parts));
        let expected = json!({ "title": "Output", "parts": [
            { "kind": "code", "text": "x".repeat(15) },
            { "kind": "text", "text": [{ "text": "", "is_code": false }, { "text": "z", "is_code": true }, { "text": "", "is_code": false }] },
            { "kind": "text", "text": [{ "text": "1 part is left out, because this report is long. Download it to see all.", "is_code": false }] },
        ] });
        assert_eq!(written, expected);
    }

    #[test]
    fn long_tables_are_cut_and_pictures_that_could_load_something_are_named() {
        let mut writer = Writer { files: &[], text_bytes: TEXT_BYTES_MAX, left_out: 0 };
        let rows = vec![vec!["a".to_owned()]; ROWS_MAX + 3];
        let table = writer.part(&Part::Table(vec!["head".to_owned()], rows)).unwrap();
        assert_eq!((table["rows"].as_array().unwrap().len(), &table["more"]), (ROWS_MAX, &json!(3)));
        let picture = |media: &str| Part::Picture { name: "p".into(), media: media.into(), content: vec![1] };
        assert_eq!(writer.part(&picture("image/svg+xml")).unwrap()["kind"], "text");
        assert_eq!(writer.part(&picture("image/png")).unwrap()["data"], "data:image/png;base64,AQ==");
    }
}
