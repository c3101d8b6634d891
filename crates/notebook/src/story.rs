//! The notebook in the report on a run: its cells with their outputs and pictures, as the file has them now.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use interlock_activity::report::{Part, RecordedRun, Section, Story};
use interlock_chart::counted;
use interlock_journal::{AttemptResult, Entry, Phase};
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
        Some(document) => sections.push(Section::new(&format!("Notebook {path}"), parts(&document, &path))),
        None => {
            let gone = format!("The file `{path}` cannot be read any more.");
            sections.push(Section::new("Notebook", vec![Part::Text(gone)]));
        }
    }
    let cells = last["cell_count"].as_u64().unwrap_or_default();
    let actions = counted(notebooks.len() as u64, "action", "actions");
    let outcome = match run.phase {
        Phase::Succeeded => "finished",
        Phase::Failed => "failed",
        Phase::Aborted => "was stopped",
        Phase::Active | Phase::Waiting | Phase::Paused => "has not ended",
    };
    let sentence = format!(
        "The run {outcome}. It carried out {actions} in the notebook `{path}`, which has {}.",
        counted(cells, "cell", "cells")
    );
    let json = json!({ "notebook": last, "actions": notebooks.len() });
    Some(Story { sentence, sections, repeat: Vec::new(), tools: Vec::new(), json })
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
        let mut parts = vec![match cell.kind {
            CellKind::Code => Part::Code(source),
            CellKind::Markdown | CellKind::Other => Part::Text(source),
        }];
        let outputs = content["outputs"].as_array().cloned().unwrap_or_default();
        let names = vec!["shown below".to_owned(); outputs.len()];
        let text = effects(&outputs, &names).join("\n");
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
    fn cells_outputs_and_pictures_become_parts() {
        let mut document = Document::new(&json!({})).unwrap();
        document.insert(0, "a", json!({ "cell_type": "markdown", "metadata": {}, "source": "# Title" }));
        let outputs = json!([
            { "output_type": "stream", "name": "stdout", "text": "hello\n" },
            { "output_type": "display_data", "data": { "image/png": "aGFsbG8=" }, "metadata": {} },
        ]);
        document.insert(1, "b", json!({ "cell_type": "code", "metadata": {}, "source": "plot()", "outputs": outputs }));
        let expected = [
            Part::Text("# Title".into()),
            Part::Code("plot()".into()),
            Part::Code("hello\n\n[image/png: shown below]".into()),
            Part::Picture { name: "n.files/b-1.png".into(), media: "image/png".into(), content: b"hallo".to_vec() },
        ];
        assert_eq!(parts(&document, "n.ipynb"), expected);
    }
}
