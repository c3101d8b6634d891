//! Merges the changes of an action into a file that somebody else has edited in the meantime.
//!
//! The edited file is the base of the result: its layout, its order and its texts stay. Cells are matched by their ids,
//! and only the fields that the action has changed are carried over.

use serde_json::Value as Json;

use super::Document;
use crate::output::joined;

/// The result of a merge.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    /// The edited document with the changes of the action.
    pub(crate) document: Document,
    /// The changes of the action that gave way to an edit, as sentences.
    pub(crate) conflicts: Vec<String>,
    /// The cells that got another id because the edit uses theirs: the old and the new id.
    pub(crate) renamed: Vec<(String, String)>,
}

/// Carries the changes from `base` to `ours` over to `theirs`, an edited version of `base`.
pub(crate) fn merge(base: &Document, ours: &Document, theirs: Document) -> Merged {
    let mut merged = Merged { document: theirs, conflicts: Vec::new(), renamed: Vec::new() };
    for at in 0..base.cells().len() {
        let id = base.cells()[at].id.as_str();
        if id.is_empty() {
            // Actions change only cells that have an id.
            continue;
        }
        match ours.find(id) {
            Some(our_at) => merged.change(id, (base, at), (ours, our_at)),
            None => merged.remove(id, base, at),
        }
    }
    for at in 0..ours.cells().len() {
        let id = ours.cells()[at].id.as_str();
        if !id.is_empty() && base.find(id).is_none() {
            merged.add(id, ours, at);
        }
    }
    merged
}

impl Merged {
    /// Carries the changed fields of a cell over.
    fn change(&mut self, id: &str, base: (&Document, usize), ours: (&Document, usize)) {
        if base.0.bytes(base.1) == ours.0.bytes(ours.1) {
            return;
        }
        let (Some(old), Some(new)) = (base.0.cell(base.1), ours.0.cell(ours.1)) else { return };
        let is_output = old["outputs"] != new["outputs"] || old["execution_count"] != new["execution_count"];
        let Some((at, mut cell)) = self.document.find(id).and_then(|at| Some((at, self.document.cell(at)?))) else {
            self.conflicts.push(match is_output {
                true => format!("[{id} was removed while it ran: its output is not in the notebook.]"),
                false => format!("[{id} was removed while this action changed it: it stays removed.]"),
            });
            return;
        };
        if cell["cell_type"] != new["cell_type"] {
            self.conflicts.push(format!("[{id} has become another kind of cell: the action's change is left out.]"));
            return;
        }
        let is_edited = joined(&cell["source"]) != joined(&old["source"]);
        if is_edited {
            self.conflicts.push(match is_output {
                true => format!(
                    "[{id} was edited while it ran: the edited text is kept, and its output is that of the text before.]"
                ),
                false => format!("[{id} was edited while this action changed it: the edited text is kept.]"),
            });
        }
        for (name, value) in new.as_object().into_iter().flatten().filter(|(name, value)| old.get(name) != Some(value))
        {
            match name.as_str() {
                "source" if is_edited => {}
                "metadata" => mark(&mut cell, value),
                _ => cell[name] = value.clone(),
            }
        }
        self.document.replace(at, &cell);
    }

    /// Removes a cell that the action has removed, unless it was edited.
    fn remove(&mut self, id: &str, base: &Document, at: usize) {
        if let Some(found) = self.document.find(id).filter(|found| self.document.digest(*found) == base.digest(at)) {
            self.document.remove(found);
        }
    }

    /// Adds a cell of the action at the end, or after the cell that is before it.
    fn add(&mut self, id: &str, ours: &Document, at: usize) {
        let Some(cell) = ours.cell(at) else { return };
        let place = match at + 1 == ours.cells().len() {
            true => self.document.cells().len(),
            false => {
                let before = ours.cells()[..at].iter().rev();
                before.filter_map(|cell| self.document.find(&cell.id)).map(|found| found + 1).next().unwrap_or(0)
            }
        };
        let free = self.document.free_id(Some(id));
        if free != id {
            self.renamed.push((id.to_owned(), free.clone()));
        }
        self.document.insert(place, &free, cell);
    }
}

/// Writes Interlock's mark into the metadata of a cell. All other metadata is that of the editor.
fn mark(cell: &mut Json, metadata: &Json) {
    if !cell["metadata"].is_object() {
        cell["metadata"] = Json::Object(serde_json::Map::new());
    }
    if let Some(mark) = metadata.get("interlock") {
        cell["metadata"]["interlock"] = mark.clone();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(source: &str) -> Json {
        json!({ "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": [source] })
    }

    /// A notebook with the code cells `a` and `b`.
    fn base() -> Document {
        let mut document = Document::new(&json!({})).unwrap();
        document.insert(0, "a", code("1"));
        document.insert(1, "b", code("2"));
        document
    }

    fn edited(change: impl FnOnce(&mut Document)) -> Document {
        let mut document = base();
        change(&mut document);
        document
    }

    fn set(document: &mut Document, id: &str, fields: Json) {
        let at = document.find(id).unwrap();
        let mut cell = document.cell(at).unwrap();
        fields.as_object().unwrap().iter().for_each(|(name, value)| cell[name] = value.clone());
        document.replace(at, &cell);
    }

    /// The action has executed `b`.
    fn executed() -> Document {
        let mark = json!({ "interlock": { "run": "r", "executed": 1 } });
        let output = json!([{ "output_type": "stream", "name": "stdout", "text": ["two"] }]);
        edited(|document| {
            set(document, "b", json!({ "outputs": output, "execution_count": 1, "metadata": mark }));
        })
    }

    fn shown(merged: &Merged) -> Vec<(String, String, usize)> {
        let document = Document::read(merged.document.text().to_owned()).unwrap();
        let cells = (0..document.cells().len()).map(|at| (document.cells()[at].id.clone(), document.cell(at).unwrap()));
        let count = |cell: &Json| cell["outputs"].as_array().map_or(0, Vec::len);
        cells.map(|(id, cell)| (id, joined(&cell["source"]), count(&cell))).collect()
    }

    fn cells(expected: &[(&str, &str, usize)]) -> Vec<(String, String, usize)> {
        expected.iter().map(|(id, source, outputs)| ((*id).to_owned(), (*source).to_owned(), *outputs)).collect()
    }

    #[test]
    fn edits_of_other_cells_and_the_output_are_both_kept() {
        let theirs = edited(|document| {
            set(document, "a", json!({ "source": "10" }));
            document.insert(1, "note", json!({ "cell_type": "markdown", "metadata": {}, "source": "hi" }));
        });
        let merged = merge(&base(), &executed(), theirs);
        assert_eq!(shown(&merged), cells(&[("a", "10", 0), ("note", "hi", 0), ("b", "2", 1)]));
        assert!(merged.conflicts.is_empty() && merged.renamed.is_empty());
    }

    #[test]
    fn the_edited_text_of_the_executed_cell_is_kept_with_the_output() {
        let theirs = edited(|document| set(document, "b", json!({ "source": "20", "metadata": { "tags": ["mine"] } })));
        let merged = merge(&base(), &executed(), theirs);
        assert_eq!(shown(&merged), cells(&[("a", "1", 0), ("b", "20", 1)]));
        let cell = merged.document.cell(1).unwrap();
        assert_eq!(cell["metadata"], json!({ "tags": ["mine"], "interlock": { "run": "r", "executed": 1 } }));
        let expected =
            "[b was edited while it ran: the edited text is kept, and its output is that of the text before.]";
        assert_eq!(merged.conflicts, [expected]);
    }

    #[test]
    fn a_removed_cell_stays_removed_and_a_changed_kind_stays_changed() {
        let merged = merge(&base(), &executed(), edited(|document| document.remove(1)));
        assert_eq!(shown(&merged), cells(&[("a", "1", 0)]));
        assert_eq!(merged.conflicts, ["[b was removed while it ran: its output is not in the notebook.]"]);
        let text = json!({ "cell_type": "markdown", "id": "b", "metadata": {}, "source": "2" });
        let theirs = edited(|document| document.replace(1, &text));
        let merged = merge(&base(), &executed(), theirs);
        assert_eq!(merged.document.cell(1).unwrap(), text);
        assert_eq!(merged.conflicts.len(), 1);
    }

    #[test]
    fn cells_that_the_action_adds_or_removes_are_added_and_removed() {
        let ours = edited(|document| {
            document.remove(0);
            document.insert(0, "title", code("t"));
            document.insert(2, "c", code("3"));
        });
        let theirs = edited(|document| document.insert(2, "c", code("theirs")));
        let merged = merge(&base(), &ours, theirs);
        let expected = [("title", "t", 0), ("b", "2", 0), ("c", "theirs", 0), ("cell-4", "3", 0)];
        assert_eq!(shown(&merged), cells(&expected));
        assert_eq!(merged.renamed, [("c".to_owned(), "cell-4".to_owned())]);
    }

    #[test]
    fn a_removed_cell_that_was_edited_stays() {
        let ours = edited(|document| document.remove(0));
        let theirs = edited(|document| set(document, "a", json!({ "source": "10" })));
        assert_eq!(shown(&merge(&base(), &ours, theirs)), cells(&[("a", "10", 0), ("b", "2", 0)]));
    }

    #[test]
    fn two_texts_for_one_cell_leave_the_edited_one() {
        let ours = edited(|document| set(document, "a", json!({ "source": "ours" })));
        let theirs = edited(|document| set(document, "a", json!({ "source": "theirs" })));
        let merged = merge(&base(), &ours, theirs);
        assert_eq!(shown(&merged), cells(&[("a", "theirs", 0), ("b", "2", 0)]));
        assert_eq!(merged.conflicts, ["[a was edited while this action changed it: the edited text is kept.]"]);
    }
}
