//! The notebook as the run's records describe it: compared with the file, it shows edits that were made while no process
//! had the document in memory.

use interlock_journal::Hash;
use serde_json::Value as Json;

use crate::{
    action::edit,
    document::{Changes, Document},
};

/// The description of a notebook in the outcome of the last action that wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recorded {
    /// The path of the notebook.
    pub(crate) path: String,
    digest: String,
    cell_count: usize,
    /// The last cells in short, as [`edit::summary`] writes them.
    cells: Vec<Json>,
}

impl Recorded {
    /// Reads a description. Returns `None` if no action has written a notebook, or if an older version described it.
    pub(crate) fn read(summary: &Json) -> Option<Self> {
        Some(Recorded {
            path: summary["path"].as_str()?.to_owned(),
            digest: summary["digest"].as_str()?.to_owned(),
            cell_count: usize::try_from(summary["cell_count"].as_u64()?).ok()?,
            cells: summary["cells"].as_array()?.clone(),
        })
    }

    /// Returns the sentence that describes how a file differs from the record. Returns `None` if it does not.
    pub(crate) fn notice(&self, document: &Document) -> Option<String> {
        (digest(document) != self.digest).then(|| self.changes(document).describe_partly(self.cells.len()))
    }

    /// Compares the last cells of the record with those of the file. Earlier cells can only be counted.
    fn changes(&self, newer: &Document) -> Changes {
        let (mut changed, mut removed) = (Vec::new(), 0);
        for old in &self.cells {
            let id = old["id"].as_str().unwrap_or_default();
            match newer.find(id).map(|at| edit::short(newer, at)) {
                None => removed += 1,
                Some(new) if (&new["source"], &new["cell_type"]) != (&old["source"], &old["cell_type"]) => {
                    changed.push(id.to_owned());
                }
                Some(_) => {}
            }
        }
        let (left, now) = (self.cell_count.saturating_sub(removed), newer.cells().len());
        Changes { changed, added: now.saturating_sub(left), removed: removed + left.saturating_sub(now) }
    }
}

/// Returns the hash of a document's text, as records carry it.
pub(crate) fn digest(document: &Document) -> String {
    Hash::of(document.text().as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(sources: &[(&str, &str)]) -> Document {
        let mut document = Document::new(&json!({})).unwrap();
        for (at, (id, source)) in sources.iter().enumerate() {
            document.insert(at, id, json!({ "cell_type": "markdown", "metadata": {}, "source": source }));
        }
        document
    }

    fn notice(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<String> {
        Recorded::read(&edit::summary(&document(before), "n.ipynb")).unwrap().notice(&document(after))
    }

    #[test]
    fn an_edit_is_described_by_the_last_cells_and_the_count() {
        let before = [("a", "one"), ("b", "two")];
        assert_eq!(notice(&before, &before), None);
        let said = notice(&before, &[("a", "one"), ("b", "TWO"), ("c", "three")]).unwrap();
        assert_eq!(said, "[The notebook was edited outside of this run: changed: b; 1 added. The edit is kept.]");
        let said = notice(&before, &[("c", "three")]).unwrap();
        assert_eq!(said, "[The notebook was edited outside of this run: 1 added; 2 removed. The edit is kept.]");
    }

    #[test]
    fn an_edit_of_an_early_cell_is_noticed_without_its_name() {
        let many: Vec<_> = (0..20).map(|at| format!("c{at}")).collect();
        let before: Vec<_> = many.iter().map(|id| (id.as_str(), "text")).collect();
        let mut after = before.clone();
        after[0].1 = "another text";
        let said = notice(&before, &after).unwrap();
        let expected =
            "[The notebook was edited outside of this run: its last 12 cells have the same text. The edit is kept.]";
        assert_eq!(said, expected);
    }

    #[test]
    fn a_description_without_a_digest_is_not_compared() {
        assert_eq!(Recorded::read(&json!({ "path": "n.ipynb", "cell_count": 1, "cells": [] })), None);
        assert_eq!(Recorded::read(&json!({})), None);
    }
}
