//! The cells that a run has written or executed, as its own records name them. The file cannot say this: a notebook that
//! was there before can carry any mark. An answer is taken only from these cells.

use interlock_journal::Hash;
use serde_json::{Value as Json, json};

use crate::{action::edit, document::Document};

/// The most cells that are remembered, the latest: more than a summary shows, because later cells can be removed.
const CELLS_MAX: usize = 24;

/// The number of characters that identify the content of a cell.
const DIGEST_CHARS: usize = 16;

/// The cells that a run has written or executed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written {
    /// The number of actions that wrote or executed a cell so far.
    actions: u64,
    /// The latest of these cells, oldest first.
    cells: Vec<WrittenCell>,
}

#[derive(Clone, Debug, PartialEq)]
struct WrittenCell {
    id: String,
    /// The action that wrote or executed it last, from 1.
    action: u64,
    digest: String,
}

impl Written {
    /// Reads the cells from the description of the notebook in the records of a run.
    pub(crate) fn read(summary: &Json) -> Self {
        let cell = |cell: &Json| {
            let (id, digest) = (cell["id"].as_str()?.to_owned(), cell["digest"].as_str()?.to_owned());
            Some(WrittenCell { id, action: cell["action"].as_u64()?, digest })
        };
        let cells = summary["written"].as_array().into_iter().flatten().filter_map(cell).collect();
        Written { actions: summary["actions"].as_u64().unwrap_or_default(), cells }
    }

    /// Adds the cell that an action has written or executed.
    pub(crate) fn add(&mut self, document: &Document, id: &str) {
        let Some(at) = document.find(id) else { return };
        self.actions += 1;
        self.cells.retain(|cell| cell.id != id);
        let digest = digest(&edit::short(document, at));
        self.cells.push(WrittenCell { id: id.to_owned(), action: self.actions, digest });
        self.cells.drain(..self.cells.len().saturating_sub(CELLS_MAX));
    }

    /// Adds the cells to the description of the notebook, and to each cell that it shows the action that wrote or executed
    /// it. A cell that was edited since has none.
    pub(crate) fn write(&self, summary: &mut Json) {
        for cell in summary["cells"].as_array_mut().into_iter().flatten() {
            let own = self.cells.iter().find(|own| cell["id"] == own.id.as_str() && digest(cell) == own.digest);
            if let Some(own) = own {
                cell["written"] = json!(own.action);
            }
        }
        summary["actions"] = json!(self.actions);
        let cells =
            self.cells.iter().map(|cell| json!({ "id": cell.id, "action": cell.action, "digest": cell.digest }));
        summary["written"] = cells.collect();
    }
}

/// Returns a short text that two cells share only if they show the same.
fn digest(short: &Json) -> String {
    Hash::of(short.to_string().as_bytes()).to_string().chars().take(DIGEST_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cells_that_the_run_wrote_and_nobody_edited_since_carry_its_action() {
        let mut document = Document::new(&json!({})).unwrap();
        for (at, id) in ["old", "new"].into_iter().enumerate() {
            let mark = json!({ "interlock": { "run": "r", "role": "plain", "added": at + 1, "executed": at + 1 } });
            document.insert(at, id, json!({ "cell_type": "markdown", "metadata": mark, "source": id }));
        }
        let mut written = Written::read(&json!({}));
        written.add(&document, "new");
        let mut summary = edit::summary(&document, "n.ipynb");
        written.write(&mut summary);
        let actions = |summary: &Json| [summary["cells"][0]["written"].clone(), summary["cells"][1]["written"].clone()];
        assert_eq!(actions(&summary), [Json::Null, json!(1)], "a mark in the file counts for nothing");
        let known = Written::read(&summary);
        assert_eq!(known, written, "the records carry it on");
        document.replace(1, &json!({ "cell_type": "markdown", "metadata": {}, "source": "edited" }));
        let mut later = edit::summary(&document, "n.ipynb");
        known.write(&mut later);
        assert_eq!(actions(&later), [Json::Null, Json::Null]);
    }
}
