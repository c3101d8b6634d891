//! The notebook in the report on a run: its cells with their outputs and pictures, as the file has them now.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use interlock_activity::report::{Part, RecordedRun, Section, Story};
use interlock_chart::counted;
use interlock_journal::{AttemptResult, Entry};
use serde_json::{Value as Json, json};

use crate::{
    document::{CellKind, Document},
    output::{cut, effects, joined},
};

/// The number of cells that are shown.
const CELLS_MAX: usize = 200;

/// The longest text of a cell or of its outputs.
const TEXT_BYTES_MAX: usize = 4 * 1_024;

/// The number of pictures, and the length of one.
const PICTURES_MAX: usize = 40;
const PICTURE_BYTES_MAX: usize = 2 * 1_024 * 1_024;

/// Tells the story of a run that worked on a notebook. Returns `None` if it carried out no action.
pub(crate) fn tell(run: &RecordedRun) -> Option<Story> {
    let notebooks: Vec<Json> = run.records.iter().filter_map(|record| notebook(&record.entry)).collect();
    let last = notebooks.last()?;
    let path = last["path"].as_str()?.to_owned();
    let mut sections = Vec::new();
    let text = Document::load(&run.folder, Path::new(&path)).ok().flatten();
    match text.and_then(|text| Document::read(text).ok()) {
        Some(document) => {
            sections.push(Section::new("Last output", last_output(&document)));
            sections.push(Section::new(&format!("Notebook {path}"), parts(&document, &path)));
        }
        None => {
            let gone = format!("The file `{path}` cannot be read any more.");
            sections.push(Section::new("Notebook", vec![Part::Text(gone)]));
        }
    }
    let cells = last["cell_count"].as_u64().unwrap_or_default();
    let actions = counted(notebooks.len() as u64, "action", "actions");
    let done = format!(
        "The run carried out {actions} in the notebook `{path}`, which has {}.",
        counted(cells, "cell", "cells")
    );
    sections.insert(0, Section::new("Work", vec![Part::Text(done)]));
    let json = json!({ "notebook": last, "actions": notebooks.len(), "unachieved": run.context["unachieved"] });
    Some(Story { remark: unachieved(&run.context["unachieved"]), sections, json, ..Story::default() })
}

/// Returns the words for the steps that were completed without their target.
fn unachieved(steps: &Json) -> String {
    let steps: Vec<_> = steps.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    match steps.len() as u64 {
        0 => String::new(),
        count => {
            let have = counted(count, "step has", "steps have");
            format!("{have} not achieved {} target: {}", if count == 1 { "its" } else { "their" }, steps.join(", "))
        }
    }
}

/// Returns the description of the notebook that an outcome of `notebook.action` carries.
fn notebook(entry: &Entry) -> Option<Json> {
    let Entry::Outcome { result: AttemptResult::Signal { name, data, .. }, .. } = entry else { return None };
    let notebook = data.get("notebook").filter(|_| name == "executed")?;
    Some(Json::from(notebook))
}

fn parts(document: &Document, path: &str) -> Vec<Part> {
    let cells = document.cells();
    let mut pictures = 0;
    let shown = cells.iter().enumerate().take(CELLS_MAX).flat_map(|(at, cell)| {
        let content = document.cell(at).unwrap_or_default();
        let source = cut(&joined(&content["source"]), TEXT_BYTES_MAX);
        let mut parts = match cell.kind {
            CellKind::Code => vec![Part::Code(source)],
            CellKind::Markdown => paragraphs(&source),
            CellKind::Other => vec![Part::Text(source)],
        };
        let outputs = content["outputs"].as_array().cloned().unwrap_or_default();
        let text = text_of(&outputs);
        if !text.trim().is_empty() {
            parts.push(Part::Code(cut(&text, TEXT_BYTES_MAX)));
        }
        let found = pictures_of(&outputs, path, &cell.id, PICTURES_MAX - pictures);
        pictures += found.len();
        parts.extend(found);
        parts
    });
    let mut parts: Vec<_> =
        shown.filter(|part| !matches!(part, Part::Code(text) | Part::Text(text) if text.trim().is_empty())).collect();
    if cells.len() > CELLS_MAX {
        parts.push(Part::Text(format!("{} more cells are in the file.", cells.len() - CELLS_MAX)));
    }
    parts
}

/// Returns the outputs of a cell as text. Pictures are shown on their own.
fn text_of(outputs: &[Json]) -> String {
    let texts: Vec<Json> = outputs.iter().filter(|output| !is_picture(output)).cloned().collect();
    effects(&texts, &[]).join("\n")
}

fn is_picture(output: &Json) -> bool {
    let bundle = output["data"].as_object();
    bundle.is_some_and(|bundle| bundle.keys().any(|media| crate::output::extension(media).is_some()))
}

/// Returns the text that the last executed cell has printed: in most notebooks it is the result.
fn last_output(document: &Document) -> Vec<Part> {
    let cells = (0..document.cells().len()).rev().filter_map(|at| document.cell(at));
    let texts = cells.filter_map(|cell| cell["outputs"].as_array().map(|outputs| text_of(outputs)));
    let last = texts.map(|text| text.trim().to_owned()).find(|text| !text.is_empty());
    last.map(|text| Part::Code(cut(&text, TEXT_BYTES_MAX))).into_iter().collect()
}

/// Returns the headings and paragraphs of a text cell.
fn paragraphs(source: &str) -> Vec<Part> {
    let (mut parts, mut open) = (Vec::new(), Vec::new());
    let mut is_fenced = false;
    for line in source.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        let heading = line.strip_prefix('#').map(|line| line.trim_start_matches('#')).filter(|_| !is_fenced);
        match heading.and_then(|line| line.strip_prefix(' ')) {
            Some(heading) => {
                parts.extend((!open.is_empty()).then(|| Part::Text(std::mem::take(&mut open).join("\n"))));
                parts.push(Part::Heading(heading.trim().to_owned()));
            }
            None => open.push(line),
        }
    }
    parts.extend((!open.is_empty()).then(|| Part::Text(open.join("\n"))));
    parts
}

fn pictures_of(outputs: &[Json], path: &str, id: &str, room: usize) -> Vec<Part> {
    let bundles = outputs.iter().filter_map(|output| output["data"].as_object()).flatten();
    let pictures = bundles.filter_map(|(media, value)| Some((media, value, crate::output::extension(media)?)));
    let place = Path::new(path).with_extension("files");
    let parts = pictures.enumerate().filter_map(|(at, (media, value, end))| {
        let packed: String = joined(value).split_whitespace().collect();
        let content = STANDARD.decode(packed).ok().filter(|content| content.len() <= PICTURE_BYTES_MAX)?;
        let name = place.join(format!("{id}-{}.{end}", at + 1)).to_string_lossy().into_owned();
        Some(Part::Picture { name, media: media.clone(), content })
    });
    parts.take(room).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_without_their_target_are_named() {
        assert_eq!(unachieved(&json!([])), "");
        assert_eq!(unachieved(&json!(["load"])), "1 step has not achieved its target: load");
        assert_eq!(unachieved(&json!(["load", "plot"])), "2 steps have not achieved their target: load, plot");
    }

    #[test]
    fn cells_outputs_and_pictures_become_parts() {
        let mut document = Document::new(&json!({})).unwrap();
        document.insert(0, "a", json!({ "cell_type": "markdown", "metadata": {}, "source": "# Title\nWords with `code`\n```\n# a comment\n```" }));
        let outputs = json!([
            { "output_type": "stream", "name": "stdout", "text": "hello\n" },
            { "output_type": "display_data", "data": { "image/png": "aGFsbG8=" }, "metadata": {} },
        ]);
        document.insert(1, "b", json!({ "cell_type": "code", "metadata": {}, "source": "plot()", "outputs": outputs }));
        let expected = [
            Part::Heading("Title".into()),
            Part::Text("Words with `code`\n```\n# a comment\n```".into()),
            Part::Code("plot()".into()),
            Part::Code("hello\n".into()),
            Part::Picture { name: "n.files/b-1.png".into(), media: "image/png".into(), content: b"hallo".to_vec() },
        ];
        assert_eq!(parts(&document, "n.ipynb"), expected);
        assert_eq!(last_output(&document), [Part::Code("hello".into())]);
    }
}
