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

/// The longest notebook that is shown, and the longest cell whose outputs are shown: both are held in memory.
const NOTEBOOK_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
const CELL_BYTES_MAX: usize = 8 * 1_024 * 1_024;

/// The number of pictures, the length of one, and the length of all.
const PICTURES_MAX: usize = 40;
const PICTURE_BYTES_MAX: usize = 2 * 1_024 * 1_024;
const PICTURES_BYTES_MAX: usize = 12 * 1_024 * 1_024;

/// Tells the story of a run that worked on a notebook. Returns `None` if it carried out no action.
pub(crate) fn tell(run: &RecordedRun) -> Option<Story> {
    let notebooks: Vec<Json> = run.records.iter().filter_map(|record| notebook(&record.entry)).collect();
    let last = notebooks.last()?;
    let path = last["path"].as_str()?.to_owned();
    let mut sections = match shown(run, &path) {
        Ok(document) => vec![
            Section::new("Last output", redacted(run, last_output(&document))),
            Section::new(&format!("Notebook {path}"), redacted(run, parts(&document, &path))),
        ],
        Err(gone) => vec![Section::new("Notebook", vec![Part::Text(gone)])],
    };
    let cells = last["cell_count"].as_u64().unwrap_or_default();
    let actions = counted(notebooks.len() as u64, "action", "actions");
    let done = format!(
        "The run carried out {actions} in the notebook `{path}`, which has {}.",
        counted(cells, "cell", "cells")
    );
    sections.insert(0, Section::new("Work", vec![Part::Text(done)]));
    sections.splice(0..0, result(run));
    let json = json!({
        "notebook": last, "actions": notebooks.len(), "unachieved": run.context["unachieved"],
        "answer": run.context["answer"], "shortfall": run.context["shortfall"],
    });
    Some(Story { remark: unachieved(&run.context["unachieved"]), sections, json, ..Story::default() })
}

/// Returns the answer to the problem, and the reasons why the workflow is incomplete.
fn result(run: &RecordedRun) -> Vec<Section> {
    let text = |name: &str| run.context[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    let paragraph = |text: &str| Part::Text(text.to_owned());
    let answer = text("answer").map(|answer| Section::new("Answer", answer.lines().map(paragraph).collect()));
    let shortfall = text("shortfall").map(|shortfall| {
        let each = run.context["unachieved"].as_array().into_iter().flatten();
        let each = each.filter_map(|step| Some((step["step_id"].as_str()?, step["reason"].as_str()?)));
        let each = each.map(|(step, reason)| Part::Text(format!("Step {step}: {reason}.")));
        Section::new("Incomplete", [Part::Text(format!("Why: {shortfall}."))].into_iter().chain(each).collect())
    });
    let sections = [answer, shortfall].into_iter().flatten();
    sections.map(|section| Section { parts: redacted(run, section.parts), ..section }).collect()
}

/// Returns the words for the steps that were completed without their target. Old runs have lists of names.
fn unachieved(steps: &Json) -> String {
    let name = |step: &'_ Json| step.as_str().or_else(|| step["step_id"].as_str()).map(str::to_owned);
    let steps: Vec<_> = steps.as_array().into_iter().flatten().filter_map(name).collect();
    match steps.len() as u64 {
        0 => String::new(),
        count => {
            let have = counted(count, "step has", "steps have");
            format!("{have} not achieved {} target: {}", if count == 1 { "its" } else { "their" }, steps.join(", "))
        }
    }
}

/// Reads the notebook as it is now. Returns the sentence that says why it cannot be shown, if it cannot.
fn shown(run: &RecordedRun, path: &str) -> Result<Document, String> {
    let text = interlock_beneath::read_text(&run.folder, Path::new(path), NOTEBOOK_BYTES_MAX);
    let text = text.map_err(|error| match error {
        interlock_beneath::Error::TooLong { .. } => {
            let limit = megabytes(NOTEBOOK_BYTES_MAX);
            format!("The file `{path}` is longer than {limit}, so it is not shown here. Open it with Jupyter.")
        }
        other => format!("The file `{path}` cannot be read: {other}."),
    })?;
    let gone = || format!("The file `{path}` is not in the directory of the run any more. It was moved or removed.");
    let text = text.ok_or_else(gone)?;
    Document::read(text).map_err(|why| format!("The file `{path}` cannot be shown: {why}."))
}

/// Hides secrets: the file is not evidence, so nothing has hidden them yet.
fn redacted(run: &RecordedRun, mut parts: Vec<Part>) -> Vec<Part> {
    let redactor = run.evidence.redactor();
    for part in &mut parts {
        if let Part::Heading(text) | Part::Text(text) | Part::Code(text) = part {
            *text = redactor.text(text).into_owned();
        }
    }
    parts
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1_048_576.0)
}

/// Returns the description of the notebook that an outcome of `notebook.action` carries.
fn notebook(entry: &Entry) -> Option<Json> {
    let Entry::Outcome { result: AttemptResult::Signal { name, data, .. }, .. } = entry else { return None };
    let notebook = data.get("notebook").filter(|_| name == "executed")?;
    Some(Json::from(notebook))
}

fn parts(document: &Document, path: &str) -> Vec<Part> {
    let cells = document.cells();
    let mut room = Room { count: PICTURES_MAX, bytes: PICTURES_BYTES_MAX };
    let mut parts: Vec<_> =
        (0..cells.len().min(CELLS_MAX)).flat_map(|at| cell(document, at, path, &mut room)).collect();
    parts.retain(|part| !matches!(part, Part::Code(text) | Part::Text(text) if text.trim().is_empty()));
    if cells.len() > CELLS_MAX {
        let more = counted((cells.len() - CELLS_MAX) as u64, "more cell is", "more cells are");
        parts.push(Part::Text(format!("{more} in the file.")));
    }
    parts
}

fn cell(document: &Document, at: usize, path: &str, room: &mut Room) -> Vec<Part> {
    let cell = &document.cells()[at];
    let source = cut(&joined(&document.field(at, "source")), TEXT_BYTES_MAX);
    let mut parts = match cell.kind {
        CellKind::Code => vec![Part::Code(source)],
        CellKind::Markdown => paragraphs(&source),
        CellKind::Other => vec![Part::Text(source)],
    };
    let Some(outputs) = outputs(document, at) else {
        let length = megabytes(cell.range.len() as u64);
        parts
            .push(Part::Text(format!("This cell has {length}; its outputs are not shown here. They are in the file.")));
        return parts;
    };
    parts.extend(words_of(&outputs));
    parts.extend(pictures_of(&outputs, path, &cell.id, room));
    parts
}

/// Returns the outputs of a cell, or `None` if the cell is too long.
fn outputs(document: &Document, at: usize) -> Option<Vec<Json>> {
    let is_short = document.cells()[at].range.len() <= CELL_BYTES_MAX;
    is_short.then(|| match document.field(at, "outputs") {
        Json::Array(outputs) => outputs,
        _ => Vec::new(),
    })
}

/// Returns the outputs of a cell that are text: plain text as it is, Markdown as headings and paragraphs. Pictures are
/// shown on their own.
fn words_of(outputs: &[Json]) -> Vec<Part> {
    let markdown = |output: &&Json| output["data"].get("text/markdown").is_some();
    let (formatted, others): (Vec<&Json>, Vec<&Json>) = outputs.iter().partition(markdown);
    let plain: Vec<Json> = others.into_iter().filter(|output| !is_picture(output)).cloned().collect();
    let text = cut(&effects(&plain, &[]).join("\n"), TEXT_BYTES_MAX);
    let formatted = formatted
        .into_iter()
        .flat_map(|output| paragraphs(&cut(&joined(&output["data"]["text/markdown"]), TEXT_BYTES_MAX)));
    let parts = [Part::Code(text)].into_iter().chain(formatted);
    parts.filter(|part| !matches!(part, Part::Code(text) | Part::Text(text) if text.trim().is_empty())).collect()
}

fn is_picture(output: &Json) -> bool {
    let bundle = output["data"].as_object();
    bundle.is_some_and(|bundle| bundle.keys().any(|media| crate::output::extension(media).is_some()))
}

/// Returns the text that the last executed cell has printed: in most notebooks it is the result.
fn last_output(document: &Document) -> Vec<Part> {
    let cells = (0..document.cells().len()).rev();
    let mut texts = cells.filter_map(|at| outputs(document, at).map(|found| words_of(&found)));
    let last = texts.find(|parts| !parts.is_empty()).unwrap_or_default();
    let trimmed = |part: Part| match part {
        Part::Code(text) => Part::Code(text.trim().to_owned()),
        other => other,
    };
    last.into_iter().map(trimmed).collect()
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

/// The pictures that can still be shown.
struct Room {
    count: usize,
    bytes: usize,
}

impl Room {
    /// Returns true if a picture of this length is shown, and counts it.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.count > 0 && bytes <= PICTURE_BYTES_MAX.min(self.bytes);
        if fits {
            (self.count, self.bytes) = (self.count - 1, self.bytes - bytes);
        }
        fits
    }
}

fn pictures_of(outputs: &[Json], path: &str, id: &str, room: &mut Room) -> Vec<Part> {
    let bundles = outputs.iter().filter_map(|output| output["data"].as_object()).flatten();
    let pictures = bundles.filter_map(|(media, value)| Some((media, value, crate::output::extension(media)?)));
    let place = Path::new(path).with_extension("files");
    let part = |(at, (media, value, end)): (usize, (&String, &Json, &str))| {
        let packed: String = joined(value).split_whitespace().collect();
        let content = STANDARD.decode(packed).ok()?;
        let name = place.join(format!("{id}-{}.{end}", at + 1)).to_string_lossy().into_owned();
        Some(match room.takes(content.len()) {
            true => Part::Picture { name, media: media.clone(), content },
            false => {
                let kilobytes = content.len().div_ceil(1_024);
                Part::Text(format!("The picture `{name}` ({kilobytes} KB) is left out: it is long, or there are many."))
            }
        })
    };
    pictures.enumerate().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_without_their_target_are_named() {
        assert_eq!(unachieved(&json!([])), "");
        assert_eq!(unachieved(&json!(["load"])), "1 step has not achieved its target: load");
        let steps = json!([{ "step_id": "load", "reason": "no table" }, { "step_id": "plot", "reason": "no table" }]);
        assert_eq!(unachieved(&steps), "2 steps have not achieved their target: load, plot");
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

    fn code(outputs: Json) -> Json {
        json!({ "cell_type": "code", "metadata": {}, "source": "plot()", "outputs": outputs })
    }

    #[test]
    fn markdown_that_a_cell_displays_has_headings() {
        let mut document = Document::new(&json!({})).unwrap();
        let bundle =
            json!({ "text/markdown": "## Result\nIt rises.", "text/plain": "<IPython.core.display.Markdown object>" });
        let outputs = json!([{ "output_type": "display_data", "data": bundle, "metadata": {} }]);
        document.insert(0, "a", code(outputs));
        let expected = [Part::Heading("Result".into()), Part::Text("It rises.".into())];
        assert_eq!(parts(&document, "n.ipynb")[1..], expected);
        assert_eq!(last_output(&document), expected);
    }

    #[test]
    fn whatever_is_left_out_is_said() {
        let mut document = Document::new(&json!({})).unwrap();
        let picture = |bytes: usize| json!({ "output_type": "display_data", "data": { "image/png": STANDARD.encode(vec![7; bytes]) }, "metadata": {} });
        document.insert(0, "a", code(json!([picture(PICTURE_BYTES_MAX + 1), picture(9)])));
        let long = json!({ "output_type": "stream", "name": "stdout", "text": "x".repeat(CELL_BYTES_MAX) });
        document.insert(1, "b", code(json!([long])));
        for at in 2..CELLS_MAX + 2 {
            document.insert(at, &format!("c{at}"), code(json!([picture(10)])));
        }
        let shown = parts(&document, "n.ipynb");
        let pictures = shown.iter().filter(|part| matches!(part, Part::Picture { .. })).count();
        assert_eq!(pictures, PICTURES_MAX);
        let says = |text: &str| shown.iter().any(|part| matches!(part, Part::Text(said) if said.contains(text)));
        assert!(says("The picture `n.files/a-1.png` (2049 KB) is left out"), "{shown:?}");
        assert!(says("This cell has 8.0 MB; its outputs are not shown here."), "{shown:?}");
        assert!(says("The picture `n.files/c199-1.png` (1 KB) is left out"), "{shown:?}");
        assert!(says("2 more cells are in the file."), "{shown:?}");
    }

    #[test]
    fn pictures_together_have_a_bound() {
        let mut room = Room { count: PICTURES_MAX, bytes: PICTURES_BYTES_MAX };
        let taken = (0..PICTURES_MAX).filter(|_| room.takes(PICTURE_BYTES_MAX)).count();
        assert_eq!(taken, PICTURES_BYTES_MAX / PICTURE_BYTES_MAX);
        assert!(room.takes(0) && !room.takes(1));
    }
}
