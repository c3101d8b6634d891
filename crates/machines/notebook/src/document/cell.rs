//! A cell of a document: its place in the text, and the mark that Interlock leaves on its own cells.

use std::ops::Range;

use serde_json::{Map, Value as Json, json};

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// A cell that a kernel executes.
    Code,
    /// A cell with formatted text.
    Markdown,
    /// Any other cell.
    Other,
}

impl CellKind {
    /// Returns the name that nbformat uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CellKind::Code => "code",
            CellKind::Markdown => "markdown",
            CellKind::Other => "raw",
        }
    }
}

/// The part that a cell of ours plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Text or code.
    #[default]
    Plain,
    /// The title of the notebook.
    Title,
    /// A heading of the first level.
    Chapter,
    /// A heading of the second level.
    Section,
    /// A note that something is being thought about; it is removed when that is over.
    Thinking,
}

impl Role {
    const ALL: [(Role, &'static str); 5] = [
        (Role::Plain, "plain"),
        (Role::Title, "title"),
        (Role::Chapter, "chapter"),
        (Role::Section, "section"),
        (Role::Thinking, "thinking"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(role, _)| *role == self).map_or("plain", |(_, name)| name)
    }

    fn named(name: &str) -> Role {
        Self::ALL.iter().find(|(_, known)| *known == name).map_or(Role::Plain, |(role, _)| *role)
    }
}

/// The mark on a cell that Interlock wrote or executed: `metadata.interlock`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mark {
    /// The run that wrote or executed the cell.
    pub(crate) run: String,
    /// The part that it plays; `None` if another author wrote it.
    pub(crate) role: Option<Role>,
    /// The stage, the step and the behavior that it belongs to.
    pub(crate) stage_id: String,
    pub(crate) step_id: String,
    pub(crate) behavior: u64,
    /// The number of a chapter or section, from 1.
    pub(crate) number: u64,
    /// The place of the cell among those that the run has added, from 1.
    pub(crate) added: u64,
    /// The place of the last execution among those of the run, from 1; 0 if it was never executed.
    pub(crate) executed: u64,
    /// The metadata that the action carried.
    pub(crate) extra: Option<Json>,
}

impl Mark {
    fn read(value: &Json) -> Option<Mark> {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| value[name].as_u64().unwrap_or_default();
        value["run"].as_str().map(|run| Mark {
            run: run.to_owned(),
            role: value["role"].as_str().map(Role::named),
            stage_id: text("stage_id"),
            step_id: text("step_id"),
            behavior: number("behavior"),
            number: number("number"),
            added: number("added"),
            executed: number("executed"),
            extra: value.get("extra").cloned(),
        })
    }

    /// Writes the mark into a cell. Other fields of `metadata.interlock`, such as an id, stay.
    pub(crate) fn write(&self, cell: &mut Json) {
        if !cell["metadata"].is_object() {
            cell["metadata"] = json!({});
        }
        if !cell["metadata"]["interlock"].is_object() {
            cell["metadata"]["interlock"] = json!({});
        }
        let Some(mark) = cell["metadata"]["interlock"].as_object_mut() else { return };
        let mut put = |name: &str, value: Json| put(mark, name, value);
        put("run", json!(self.run));
        put("role", self.role.map_or(Json::Null, |role| json!(role.name())));
        for (name, text) in [("stage_id", &self.stage_id), ("step_id", &self.step_id)] {
            put(name, if text.is_empty() { Json::Null } else { json!(text) });
        }
        let numbers =
            [("behavior", self.behavior), ("number", self.number), ("added", self.added), ("executed", self.executed)];
        for (name, number) in numbers {
            put(name, if number == 0 { Json::Null } else { json!(number) });
        }
        put("extra", self.extra.clone().unwrap_or_default());
    }
}

/// Sets a field, or removes it if the value is null.
fn put(fields: &mut Map<String, Json>, name: &str, value: Json) {
    match value {
        Json::Null => drop(fields.shift_remove(name)),
        value => drop(fields.insert(name.to_owned(), value)),
    }
}

/// A cell of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexedCell {
    /// The bytes of the cell in the document's text.
    pub(crate) range: Range<usize>,
    /// The id; empty if the cell has none.
    pub(crate) id: String,
    /// The kind of the cell.
    pub(crate) kind: CellKind,
    /// The mark, if Interlock wrote or executed the cell.
    pub(crate) mark: Option<Mark>,
}

impl IndexedCell {
    /// Reads a cell. A cell that is not valid JSON is kept, but it has no id.
    pub(crate) fn read(text: &str, range: Range<usize>) -> Self {
        // Only these fields are decoded: outputs can be large.
        let fields = super::scan::fields(text, range.start).unwrap_or_default();
        let field = |name: &str| -> Json {
            let value = fields.iter().find(|field| field.name == name).map(|field| &text[field.value.clone()]);
            value.and_then(|value| serde_json::from_str(value).ok()).unwrap_or_default()
        };
        let own = field("metadata")["interlock"].take();
        let id = field("id").as_str().or_else(|| own["id"].as_str()).unwrap_or_default().to_owned();
        let kind = match field("cell_type").as_str() {
            Some("code") => CellKind::Code,
            Some("markdown") => CellKind::Markdown,
            _ => CellKind::Other,
        };
        IndexedCell { range, id, kind, mark: Mark::read(&own) }
    }

    /// Returns true if this run wrote the cell and it plays this part.
    pub(crate) fn is(&self, run: &str, role: Role) -> bool {
        self.mark.as_ref().is_some_and(|mark| mark.run == run && mark.role == Some(role))
    }
}
