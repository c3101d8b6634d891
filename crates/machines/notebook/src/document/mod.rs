//! A notebook file in the format nbformat 4, edited in place.
//!
//! The text of the file is the document: an edit replaces the bytes of one cell and leaves all others as they are, so
//! cells of other authors survive byte for byte, whatever they contain. An index of the cells is kept beside the text,
//! so that an edit costs the same at cell 10 and at cell 1,000. Cells that Interlock writes carry `metadata.interlock`.

mod cell;
mod merge;
mod save;
mod scan;

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    ops::Range,
    path::Path,
};

use serde_json::{Value as Json, json};

pub(crate) use cell::{CellKind, IndexedCell, Mark, Role};
pub(crate) use merge::{Merged, merge};
pub(crate) use save::{replace as replace_file, replace_unless as replace_file_unless};

/// The longest notebook that is read.
const BYTES_MAX: u64 = 256 * 1_024 * 1_024;

/// The largest number of cells.
const CELLS_MAX: usize = 20_000;

/// The first minor version in which cells have ids.
const MINOR_WITH_IDS: u64 = 5;

/// An open notebook.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    /// The bytes of the list of cells, with its brackets.
    list: Range<usize>,
    cells: Vec<IndexedCell>,
    has_ids: bool,
}

/// The changes that another program has made to a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The ids of cells with another content.
    pub(crate) changed: Vec<String>,
    /// The number of cells that were added.
    pub(crate) added: usize,
    /// The number of cells that were removed.
    pub(crate) removed: usize,
}

impl Changes {
    fn parts(&self) -> String {
        let mut parts = Vec::new();
        if !self.changed.is_empty() {
            parts.push(format!("changed: {}", self.changed.join(", ")));
        }
        if self.added > 0 {
            parts.push(format!("{} added", self.added));
        }
        if self.removed > 0 {
            parts.push(format!("{} removed", self.removed));
        }
        parts.join("; ")
    }

    /// Describes the changes if all cells were compared.
    pub(crate) fn describe(&self) -> String {
        self.sentence("its cells are the same")
    }

    /// Describes the changes if only this many cells at the end were compared.
    pub(crate) fn describe_partly(&self, compared: usize) -> String {
        self.sentence(&format!("its last {compared} cells have the same text"))
    }

    fn sentence(&self, without_parts: &str) -> String {
        let parts = self.parts();
        let what = if parts.is_empty() { without_parts } else { &parts };
        format!("[The notebook was edited outside of this run: {what}. The edit is kept.]")
    }
}

impl Document {
    /// Creates an empty notebook.
    pub(crate) fn new(metadata: &Json) -> Result<Self, String> {
        let metadata = pretty(metadata, 1);
        Self::read(format!(
            "{{\n \"cells\": [],\n \"metadata\": {metadata},\n \"nbformat\": 4,\n \"nbformat_minor\": {MINOR_WITH_IDS}\n}}\n"
        ))
    }

    /// Reads a notebook from the workspace. Returns its text, or `None` if it does not exist.
    pub(crate) fn load(folder: &Path, path: &Path) -> Result<Option<String>, String> {
        let text = interlock_beneath::read_text(folder, path, BYTES_MAX).map_err(|error| error.to_string())?;
        // An editor that was about to write leaves an empty file.
        Ok(text.filter(|text| !text.trim().is_empty()))
    }

    /// Reads a notebook from its text.
    pub(crate) fn read(text: String) -> Result<Self, String> {
        let fields = scan::fields(&text, 0).ok_or("it is not a JSON object")?;
        let find = |name: &str| fields.iter().find(|field| field.name == name).map(|field| field.value.clone());
        let number = |name: &str| find(name).and_then(|range| text[range].parse::<u64>().ok());
        match number("nbformat") {
            Some(4) => {}
            Some(other) => {
                return Err(format!(
                    "its format is nbformat {other}; convert it with `jupyter nbconvert --to notebook --inplace`"
                ));
            }
            None => return Err("it has no `nbformat`, so it is not a notebook".to_owned()),
        }
        let list = find("cells").ok_or("it has no `cells`")?;
        let ranges = scan::items(&text, list.start).ok_or("its `cells` are not a list")?;
        if ranges.len() > CELLS_MAX {
            return Err(format!("it has more than {CELLS_MAX} cells"));
        }
        let cells = ranges.into_iter().map(|range| IndexedCell::read(&text, range)).collect();
        let has_ids = number("nbformat_minor").is_some_and(|minor| minor >= MINOR_WITH_IDS);
        Ok(Document { text, list, cells, has_ids })
    }

    /// Returns the text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the cells in their order.
    pub(crate) fn cells(&self) -> &[IndexedCell] {
        &self.cells
    }

    /// Returns the position of the cell with this id.
    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        self.cells.iter().position(|cell| cell.id == id)
    }

    /// Returns the content of a cell, or `None` if it is not valid JSON.
    pub(crate) fn cell(&self, at: usize) -> Option<Json> {
        serde_json::from_str(&self.text[self.cells.get(at)?.range.clone()]).ok()
    }

    /// Returns one field of a cell without decoding the others; null if there is none.
    pub(crate) fn field(&self, at: usize, name: &str) -> Json {
        let Some(cell) = self.cells.get(at) else { return Json::Null };
        let fields = scan::fields(&self.text, cell.range.start).unwrap_or_default();
        let value = fields.into_iter().find(|field| field.name == name);
        value.and_then(|field| serde_json::from_str(&self.text[field.value]).ok()).unwrap_or_default()
    }

    /// Returns the text of a cell in the file.
    fn bytes(&self, at: usize) -> &str {
        self.cells.get(at).map_or("", |cell| &self.text[cell.range.clone()])
    }

    /// Returns an id that no cell has: the wanted one, or a numbered one.
    pub(crate) fn free_id(&self, wanted: Option<&str>) -> String {
        let is_free = |id: &str| self.find(id).is_none();
        if let Some(wanted) = wanted.filter(|id| is_id(id) && is_free(id)) {
            return wanted.to_owned();
        }
        let numbers = self.cells.len() + 1..;
        numbers.map(|number| format!("cell-{number}")).find(|id| is_free(id)).unwrap_or_default()
    }

    /// Inserts a cell before the position `at`.
    pub(crate) fn insert(&mut self, at: usize, id: &str, mut cell: Json) {
        let at = at.min(self.cells.len());
        if self.has_ids {
            cell["id"] = json!(id);
        } else {
            // Older notebooks must not have ids, and adding them to all cells would change cells of others.
            cell["metadata"]["interlock"]["id"] = json!(id);
        }
        // Jupyter sorts fields too, so a notebook that it saves again keeps its lines.
        cell.sort_all_objects();
        let body = pretty(&cell, 2);
        match (self.cells.is_empty(), at) {
            (true, _) => self.splice(self.list.clone(), &format!("[\n  {body}\n ]")),
            (false, 0) => {
                let start = self.cells[0].range.start;
                self.splice(start..start, &format!("{body},\n  "));
            }
            (false, at) => {
                let end = self.cells[at - 1].range.end;
                self.splice(end..end, &format!(",\n  {body}"));
            }
        }
        let start = match (self.cells.is_empty(), at) {
            (true, _) => self.list.start + "[\n  ".len(),
            (false, 0) => self.cells[0].range.start - body.len() - ",\n  ".len(),
            (false, at) => self.cells[at - 1].range.end + ",\n  ".len(),
        };
        let cell = IndexedCell::read(&self.text, start..start + body.len());
        self.cells.insert(at, cell);
    }

    /// Replaces the content of a cell.
    pub(crate) fn replace(&mut self, at: usize, cell: &Json) {
        let Some(range) = self.cells.get(at).map(|cell| cell.range.clone()) else { return };
        let body = pretty(cell, 2);
        self.splice(range.clone(), &body);
        self.cells[at] = IndexedCell::read(&self.text, range.start..range.start + body.len());
    }

    /// Removes a cell.
    pub(crate) fn remove(&mut self, at: usize) {
        let Some(range) = self.cells.get(at).map(|cell| cell.range.clone()) else { return };
        let gap = match (at.checked_sub(1).and_then(|before| self.cells.get(before)), self.cells.get(at + 1)) {
            (Some(before), _) => before.range.end..range.end,
            (None, Some(next)) => range.start..next.range.start,
            (None, None) => self.list.start + 1..self.list.end - 1,
        };
        self.cells.remove(at);
        self.splice(gap, "");
    }

    /// Replaces bytes and moves the positions behind them.
    fn splice(&mut self, range: Range<usize>, with: &str) {
        let (end, removed, added) = (range.end, range.len(), with.len());
        self.text.replace_range(range, with);
        let moved = |at: usize| if at >= end { at - removed + added } else { at };
        self.list.end = moved(self.list.end);
        // The cells are in the order of the text, so only those behind the change are touched.
        for cell in self.cells.iter_mut().rev().take_while(|cell| cell.range.start >= end) {
            cell.range = moved(cell.range.start)..moved(cell.range.end);
        }
    }

    /// Compares this document with a newer one that another program has written.
    pub(crate) fn changes(&self, newer: &Document) -> Changes {
        let digests = |document: &Document| -> BTreeMap<String, u64> {
            let cells = document.cells.iter().enumerate();
            cells.map(|(at, cell)| (cell.id.clone(), document.digest(at))).collect()
        };
        let (old, new) = (digests(self), digests(newer));
        Changes {
            changed: new
                .iter()
                .filter(|(id, new)| old.get(*id).is_some_and(|old| old != *new))
                .map(|(id, _)| id.clone())
                .collect(),
            added: new.keys().filter(|id| !old.contains_key(*id)).count(),
            removed: old.keys().filter(|id| !new.contains_key(*id)).count(),
        }
    }

    /// Returns a number for the meaning of a cell: another layout of the same JSON gives the same number.
    fn digest(&self, at: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self.cell(at) {
            Some(cell) => {
                crate::output::joined(&cell["source"]).hash(&mut hasher);
                cell["cell_type"].to_string().hash(&mut hasher);
            }
            None => self.text[self.cells[at].range.clone()].hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// Returns true if nbformat allows a text as the id of a cell.
fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Writes JSON as Jupyter does: one space per level. `depth` is the level of the value in the file.
fn pretty(value: &Json, depth: usize) -> String {
    let mut text = Vec::new();
    let layout = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, layout);
    // JSON values can always be written to memory.
    let _ = serde::Serialize::serialize(value, &mut writer);
    let text = String::from_utf8(text).unwrap_or_default();
    text.replace('\n', &format!("\n{}", " ".repeat(depth)))
}

#[cfg(test)]
mod tests;
