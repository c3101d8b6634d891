//! The actions that only change the document: cells, headings, the title, and notes about thinking.

use serde_json::{Value as Json, json};

use super::{Action, LAST_ADDED};
use crate::{
    document::{CellKind, Document, Mark, Role},
    output::{cut, joined, lines, one_line},
    recorded::digest,
};

/// The codes of the errors of `notebook.action`.
pub(crate) mod problem {
    /// The action lacks a field, or the queue lacks the action.
    pub(crate) const BAD_ACTION: &str = "BAD_ACTION";
    /// The action names a cell that does not exist.
    pub(crate) const NO_CELL: &str = "NO_CELL";
    /// The notebook file cannot be read or written.
    pub(crate) const NOTEBOOK: &str = "NOTEBOOK";
    /// There is no kernel of that name.
    pub(crate) const NO_KERNELSPEC: &str = "NO_KERNELSPEC";
    /// The kernel is gone, and the state of its cells with it.
    pub(crate) const KERNEL_LOST: &str = "KERNEL_LOST";
    /// The cell ran longer than its limit.
    pub(crate) const CELL_TIMEOUT: &str = "CELL_TIMEOUT";
    /// The kernel exceeded a limit of the sandbox.
    pub(crate) const LIMIT: &str = "LIMIT";
}

/// The number of cells that the result shows, and the length of each.
const SHOWN_CELLS: usize = 12;
const SHOWN_BYTES: usize = 240;

/// The cell that a thought becomes.
const THINKING_BYTES_MAX: usize = 8 * 1_024;

/// The result of an edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Edited {
    /// One sentence.
    pub(crate) summary: String,
    /// The id of the cell that was written.
    pub(crate) cell: Option<String>,
    /// A warning for the planner.
    pub(crate) warning: Option<String>,
}

/// Carries out an action that needs no kernel. `mark` has the run and the place in the workflow.
pub(crate) fn edit(
    document: &mut Document,
    mark: &Mark,
    action: &Action,
    last_effect: Option<&str>,
) -> Result<Edited, String> {
    let mut editor = Editor { document, mark };
    Ok(match action {
        Action::Add { kind, content, store_id, metadata } => {
            let id = editor.add(*kind, content, store_id.as_deref(), Role::Plain, 0, metadata.clone());
            done(format!("added the {} cell {id}", kind.name()), id)
        }
        Action::Heading { is_chapter, content, metadata } => editor.heading(*is_chapter, content, metadata.clone()),
        Action::UpdateTitle { title } => editor.title(title),
        Action::IsThinking { text } => editor.think(text),
        Action::SetEffectAsThinking { text } => {
            let text = text.as_deref().or(last_effect).unwrap_or("finished thinking");
            editor.think(text)
        }
        Action::FinishThinking => editor.finish_thinking(),
        Action::ClearThinking => editor.clear_thinking(),
        Action::UpdateLastText { text } => return editor.update_last_text(text),
        Action::Unknown(name) => {
            let warning = format!("[Skipped: the action `{}` does not exist.]", one_line(name));
            Edited {
                summary: format!("skipped an unknown action: {}", one_line(name)),
                cell: None,
                warning: Some(warning),
            }
        }
        // Executed elsewhere.
        Action::Exec { .. } => Edited::default(),
    })
}

fn done(summary: String, cell: String) -> Edited {
    Edited { summary, cell: Some(cell), warning: None }
}

struct Editor<'d> {
    document: &'d mut Document,
    mark: &'d Mark,
}

impl Editor<'_> {
    fn add(
        &mut self,
        kind: CellKind,
        content: &str,
        wanted: Option<&str>,
        role: Role,
        number: u64,
        extra: Option<Json>,
    ) -> String {
        let at = if role == Role::Title { 0 } else { self.document.cells().len() };
        let id = self.document.free_id(wanted);
        let mut cell = json!({ "cell_type": kind.name(), "metadata": {}, "source": lines(content) });
        if kind == CellKind::Code {
            cell["execution_count"] = Json::Null;
            cell["outputs"] = json!([]);
        }
        let added = marks(self.document, &self.mark.run).map(|mark| mark.added).max().unwrap_or(0) + 1;
        Mark { role: Some(role), number, added, extra, ..self.mark.clone() }.write(&mut cell);
        self.document.insert(at, &id, cell);
        id
    }

    /// Adds a heading with its number. The numbers go on where those of earlier runs ended.
    fn heading(&mut self, is_chapter: bool, content: &str, extra: Option<Json>) -> Edited {
        let of = |role: Role| {
            self.document
                .cells()
                .iter()
                .filter_map(move |cell| cell.mark.as_ref().filter(|mark| mark.role == Some(role)))
        };
        let chapters = of(Role::Chapter).map(|mark| mark.number).max().unwrap_or(0);
        let sections = of(Role::Section).map(|mark| mark.number).max().unwrap_or(0);
        let cells = self.document.cells().iter().rev().filter_map(|cell| cell.mark.as_ref());
        let in_chapter = cells.take_while(|mark| mark.role != Some(Role::Chapter));
        let in_chapter = in_chapter.filter(|mark| mark.role == Some(Role::Section)).count() + 1;
        let (role, number, level, shown) = match is_chapter {
            true => (Role::Chapter, chapters + 1, "##", format!("{}", chapters + 1)),
            false if chapters == 0 => (Role::Section, sections + 1, "###", format!("{}", sections + 1)),
            false => (Role::Section, sections + 1, "###", format!("{chapters}.{in_chapter}")),
        };
        let is_numbered = content.starts_with(|letter: char| letter.is_ascii_digit());
        let line = if is_numbered { format!("{level} {content}") } else { format!("{level} {shown} {content}") };
        let name = if is_chapter { "chapter" } else { "section" };
        let id = self.add(CellKind::Markdown, &line, Some(&format!("{name}-{number}")), role, number, extra);
        done(format!("began {name} {number}: {}", one_line(content)), id)
    }

    /// Sets the title: the cell at the top, if it is one of ours, or a new cell above all others.
    fn title(&mut self, title: &str) -> Edited {
        let line = format!("# {}", title.trim().trim_start_matches('#').trim());
        let own = self
            .document
            .cells()
            .iter()
            .position(|cell| cell.mark.as_ref().is_some_and(|mark| mark.role == Some(Role::Title)));
        let summary = format!("set the title: {}", one_line(title));
        match own.and_then(|at| Some((at, self.document.cell(at)?))) {
            Some((at, mut cell)) => {
                cell["source"] = lines(&line);
                self.document.replace(at, &cell);
                done(summary, self.document.cells()[at].id.clone())
            }
            None => {
                let id = self.add(CellKind::Markdown, &line, Some("title"), Role::Title, 0, None);
                done(summary, id)
            }
        }
    }

    fn think(&mut self, text: &str) -> Edited {
        let quoted: Vec<_> = cut(text, THINKING_BYTES_MAX).lines().map(|line| format!("> {line}")).collect();
        let id = self.add(CellKind::Markdown, &quoted.join("\n"), None, Role::Thinking, 0, None);
        done(format!("thinking: {}", one_line(text)), id)
    }

    fn finish_thinking(&mut self) -> Edited {
        let last = self.document.cells().iter().rposition(|cell| cell.is(&self.mark.run, Role::Thinking));
        match last {
            Some(at) => {
                self.document.remove(at);
                Edited { summary: "finished thinking".to_owned(), ..Edited::default() }
            }
            None => Edited {
                summary: "there was no thinking to finish".to_owned(),
                warning: Some("[`finish_thinking` without `is_thinking`]".to_owned()),
                cell: None,
            },
        }
    }

    fn clear_thinking(&mut self) -> Edited {
        let summary = match clear_thinking(self.document, &self.mark.run) {
            true => "removed the notes about thinking",
            false => "there were no notes about thinking",
        };
        Edited { summary: summary.to_owned(), ..Edited::default() }
    }

    fn update_last_text(&mut self, text: &str) -> Result<Edited, String> {
        let is_text = |role: Option<Role>| matches!(role, Some(Role::Plain | Role::Thinking));
        let own = |mark: &Mark| mark.run == self.mark.run && is_text(mark.role);
        let last = self
            .document
            .cells()
            .iter()
            .rposition(|cell| cell.kind == CellKind::Markdown && cell.mark.as_ref().is_some_and(own));
        let found = last.and_then(|at| Some((at, self.document.cell(at)?)));
        let (at, mut cell) = found.ok_or("this run has not added a text cell yet")?;
        cell["source"] = lines(text);
        self.document.replace(at, &cell);
        let id = self.document.cells()[at].id.clone();
        Ok(done(format!("replaced the text of {id}"), id))
    }
}

/// Removes all notes about thinking of a run. Returns true if there was one.
pub(crate) fn clear_thinking(document: &mut Document, run: &str) -> bool {
    let found: Vec<_> =
        (0..document.cells().len()).filter(|at| document.cells()[*at].is(run, Role::Thinking)).collect();
    found.iter().rev().for_each(|at| document.remove(*at));
    !found.is_empty()
}

/// Removes what a failed behavior has left unfinished in its step: notes about thinking, and code cells that were added
/// but never executed. Returns the number of removed cells.
pub(crate) fn clear_unfinished(document: &mut Document, mark: &Mark) -> usize {
    let is_here = |own: &Mark| own.run == mark.run && own.stage_id == mark.stage_id && own.step_id == mark.step_id;
    let is_unfinished = |at: &usize| {
        let indexed = &document.cells()[*at];
        let Some(own) = indexed.mark.as_ref().filter(|own| is_here(own)) else { return false };
        match (own.role, indexed.kind) {
            (Some(Role::Thinking), _) => true,
            (Some(Role::Plain), CellKind::Code) => own.executed == 0 && is_blank(document, *at),
            _ => false,
        }
    };
    let found: Vec<_> = (0..document.cells().len()).filter(is_unfinished).collect();
    found.iter().rev().for_each(|at| document.remove(*at));
    found.len()
}

/// Returns true if a code cell has no output and no number: a cell that timed out or that a person executed has one.
fn is_blank(document: &Document, at: usize) -> bool {
    let cell = document.cell(at).unwrap_or_default();
    cell["execution_count"].is_null() && cell["outputs"].as_array().is_some_and(Vec::is_empty)
}

/// Returns the marks of a run's cells.
pub(crate) fn marks<'d>(document: &'d Document, run: &str) -> impl Iterator<Item = &'d Mark> {
    document.cells().iter().filter_map(|cell| cell.mark.as_ref()).filter(move |mark| mark.run == run)
}

/// Finds the code cell that an action names. The error says why there is none.
pub(crate) fn code_cell(document: &Document, run: &str, name: &str) -> Result<usize, String> {
    if name == LAST_ADDED {
        let own = document.cells().iter().enumerate().filter(|(_, cell)| {
            cell.kind == CellKind::Code && cell.mark.as_ref().is_some_and(|mark| mark.run == run && mark.role.is_some())
        });
        let last = own.max_by_key(|(_, cell)| cell.mark.as_ref().map_or(0, |mark| mark.added));
        return last.map(|(at, _)| at).ok_or_else(|| "this run has not added a code cell yet".to_owned());
    }
    match document.find(name) {
        Some(at) if document.cells()[at].kind == CellKind::Code => Ok(at),
        Some(_) => Err(format!("the cell `{name}` is not a code cell")),
        None => Err(format!("there is no cell `{name}`; it may have been removed")),
    }
}

/// Returns the notebook as a planner sees it: the title, the number of cells, and the last cells in short.
pub(crate) fn summary(document: &Document, path: &str) -> Json {
    let cells = document.cells();
    let title = cells.iter().position(|cell| cell.mark.as_ref().is_some_and(|mark| mark.role == Some(Role::Title)));
    let title = title.and_then(|at| document.cell(at)).map(|cell| joined(&cell["source"]));
    let title = title.map(|text| text.trim_start_matches('#').trim().to_owned()).unwrap_or_default();
    let first = cells.len().saturating_sub(SHOWN_CELLS);
    let shown: Vec<_> = (first..cells.len()).map(|at| short(document, at)).collect();
    let last = shown.last().cloned().unwrap_or_default();
    json!({
        "title": title, "path": path, "digest": digest(document), "cell_count": cells.len(), "cells": shown,
        "last_cell_type": last["cell_type"], "last_output": last["outputs"].as_array().and_then(|all| all.last()),
    })
}

/// Returns a cell as the summary shows it.
pub(crate) fn short(document: &Document, at: usize) -> Json {
    let cell = document.cell(at).unwrap_or_default();
    let outputs = cell["outputs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let outputs = crate::output::effects(&outputs[outputs.len().saturating_sub(3)..], &[]);
    let outputs: Vec<_> = outputs.iter().map(|text| cut(text, SHOWN_BYTES)).collect();
    let indexed = &document.cells()[at];
    json!({
        "id": indexed.id, "cell_type": indexed.kind.name(), "source": cut(&joined(&cell["source"]), SHOWN_BYTES),
        "outputs": outputs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        Mark { run: "r".into(), stage_id: "s".into(), step_id: "t".into(), behavior: 1, ..Mark::default() }
    }

    fn play(document: &mut Document, actions: &[Json]) -> Vec<String> {
        let each = actions.iter().map(|action| {
            let action = Action::read(action).unwrap();
            match edit(document, &mark(), &action, Some("last output")) {
                Ok(edited) => edited.warning.unwrap_or(edited.summary),
                Err(why) => why,
            }
        });
        each.collect()
    }

    fn sources(document: &Document) -> Vec<String> {
        (0..document.cells().len()).map(|at| joined(&document.cell(at).unwrap()["source"])).collect()
    }

    #[test]
    fn headings_are_numbered_and_the_title_is_on_top() {
        let mut document = Document::new(&json!({})).unwrap();
        play(
            &mut document,
            &[
                json!({ "action": "new_chapter", "content": "Load" }),
                json!({ "action": "new_section", "content": "## Read" }),
                json!({ "action": "new_section", "content": "Look" }),
                json!({ "action": "newChapter", "content": "2. Clean" }),
                json!({ "action": "new_section", "content": "Drop" }),
                json!({ "action": "update_title", "title": "Old" }),
                json!({ "action": "update_title", "title": "# Houses" }),
            ],
        );
        let expected = ["# Houses", "## 1 Load", "### 1.1 Read", "### 1.2 Look", "## 2. Clean", "### 2.1 Drop"];
        assert_eq!(sources(&document), expected);
        let ids: Vec<_> = document.cells().iter().map(|cell| &*cell.id).collect();
        assert_eq!(ids, ["title", "chapter-1", "section-1", "section-2", "chapter-2", "section-3"]);
        assert_eq!(summary(&document, "n.ipynb")["title"], "Houses");
    }

    #[test]
    fn thoughts_are_added_and_removed_again() {
        let mut document = Document::new(&json!({})).unwrap();
        let said = play(
            &mut document,
            &[json!({ "action": "is_thinking", "thinking_text": "hm" }), json!({ "action": "set_effect_as_thinking" })],
        );
        assert_eq!(said, ["thinking: AI: hm", "thinking: last output"]);
        assert_eq!(sources(&document), ["> AI: hm", "> last output"]);
        let said = play(&mut document, &vec![json!({ "action": "finish_thinking" }); 3]);
        assert_eq!(said[..2], ["finished thinking", "finished thinking"]);
        assert_eq!(said[2], "[`finish_thinking` without `is_thinking`]");
        assert_eq!(document.cells().len(), 0);
        play(&mut document, &vec![json!({ "action": "is_thinking" }); 2]);
        assert!(clear_thinking(&mut document, "r") && !clear_thinking(&mut document, "r"));
    }

    #[test]
    fn cells_that_a_failed_behavior_has_not_executed_are_removed() {
        let mut document = Document::new(&json!({})).unwrap();
        play(
            &mut document,
            &[
                json!({ "action": "new_section", "content": "Load" }),
                json!({ "action": "is_thinking" }),
                json!({ "action": "add", "shot_type": "action", "content": "1", "store_id": "done" }),
                json!({ "action": "add", "shot_type": "action", "content": "2", "store_id": "timed-out" }),
                json!({ "action": "add", "shot_type": "action", "content": "3", "store_id": "never" }),
            ],
        );
        let mut cell = document.cell(2).unwrap();
        Mark { role: Some(Role::Plain), executed: 1, ..mark() }.write(&mut cell);
        document.replace(2, &cell);
        let mut cell = document.cell(3).unwrap();
        cell["outputs"] = json!([{ "output_type": "stream", "name": "stderr", "text": ["too long"] }]);
        document.replace(3, &cell);
        document.insert(5, "theirs", json!({ "cell_type": "code", "metadata": {}, "source": "4", "outputs": [] }));
        let elsewhere = Mark { step_id: "other".into(), ..mark() };
        assert_eq!(clear_unfinished(&mut document, &elsewhere), 0);
        assert_eq!(clear_unfinished(&mut document, &mark()), 2);
        let ids: Vec<_> = document.cells().iter().map(|cell| &*cell.id).collect();
        assert_eq!(ids, ["section-1", "done", "timed-out", "theirs"]);
    }

    #[test]
    fn the_last_text_is_replaced_and_an_unknown_action_is_skipped() {
        let mut document = Document::new(&json!({})).unwrap();
        let said = play(
            &mut document,
            &[
                json!({ "action": "update_last_text", "text": "x" }),
                json!({ "action": "add", "shot_type": "dialogue", "content": "old" }),
                json!({ "action": "add", "shot_type": "action", "content": "1" }),
                json!({ "action": "update_last_text", "text": "new" }),
                json!({ "action": "dance" }),
            ],
        );
        assert_eq!(said[0], "this run has not added a text cell yet");
        assert_eq!(said[3..], ["replaced the text of cell-1", "[Skipped: the action `dance` does not exist.]"]);
        assert_eq!(sources(&document), ["new", "1"]);
    }

    #[test]
    fn a_cell_to_execute_is_found_by_id_or_as_the_last_added() {
        let mut document = Document::new(&json!({})).unwrap();
        assert!(code_cell(&document, "r", LAST_ADDED).is_err());
        play(
            &mut document,
            &[
                json!({ "action": "add", "shot_type": "action", "content": "1", "store_id": "mine" }),
                json!({ "action": "add", "shot_type": "action", "content": "2" }),
                json!({ "action": "add", "shot_type": "dialogue", "content": "text" }),
            ],
        );
        assert_eq!(code_cell(&document, "r", LAST_ADDED), Ok(1));
        assert_eq!(code_cell(&document, "r", "mine"), Ok(0));
        assert_eq!(code_cell(&document, "r", "cell-3"), Err("the cell `cell-3` is not a code cell".into()));
        assert!(code_cell(&document, "r", "gone").is_err() && code_cell(&document, "other", LAST_ADDED).is_err());
    }
}
