//! The actions of a behavior, as a generator writes them: field names in snake case or camel case.
//!
//! `edit` carries out those that only change the document, `execute` those that need a kernel.

pub(crate) mod edit;
pub(crate) mod execute;

use serde_json::Value as Json;

use crate::document::CellKind;

/// The word that stands for the cell that was added last.
pub(crate) const LAST_ADDED: &str = "lastAddedCellId";

/// The longest content of a cell.
const CONTENT_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// The longest metadata of a cell.
const METADATA_BYTES_MAX: usize = 16 * 1_024;

/// Phrases that models put before the content.
const PREFIXES: [&str; 2] = ["Add text to the notebook:", "Add code to the notebook:"];

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Adds a cell at the end.
    Add { kind: CellKind, content: String, store_id: Option<String>, metadata: Option<Json> },
    /// Executes a code cell.
    Exec { cell: String, needs_output: bool },
    /// Adds a note that something is being thought about.
    IsThinking { text: String },
    /// Removes the last such note.
    FinishThinking,
    /// Removes all such notes of the run. The machine orders it when a workflow is cancelled or reset.
    ClearThinking,
    /// Adds a heading.
    Heading { is_chapter: bool, content: String, metadata: Option<Json> },
    /// Sets the title of the notebook.
    UpdateTitle { title: String },
    /// Adds a note with a text, or with the last output if there is no text.
    SetEffectAsThinking { text: Option<String> },
    /// Replaces the text of the last text cell.
    UpdateLastText { text: String },
    /// An action that does not exist here.
    Unknown(String),
}

impl Action {
    /// Reads an action. The error says which field is missing or wrong.
    pub(crate) fn read(value: &Json) -> Result<Action, String> {
        // A line of a stream wraps the action: `{"action": {"action": "add", …}}`.
        let value = if value["action"].is_object() { &value["action"] } else { value };
        let name = ["action", "type"].iter().find_map(|name| value[*name].as_str());
        let name = name.ok_or("it has no field `action`")?;
        let fields = Fields(value, name);
        Ok(match snake(name).as_str() {
            "add" => fields.add()?,
            "exec" => Action::Exec {
                cell: fields.need("codecell_id")?,
                needs_output: fields.get("need_output").and_then(Json::as_bool).unwrap_or(true),
            },
            "is_thinking" => Action::IsThinking { text: fields.thinking() },
            "finish_thinking" => Action::FinishThinking,
            "clear_thinking" => Action::ClearThinking,
            "new_chapter" => fields.heading(true)?,
            "new_section" => fields.heading(false)?,
            "update_title" => Action::UpdateTitle { title: fields.need("title")? },
            "set_effect_as_thinking" => Action::SetEffectAsThinking { text: fields.text("thinking_text") },
            "update_last_text" => Action::UpdateLastText { text: fields.need("text")? },
            _ => Action::Unknown(name.to_owned()),
        })
    }
}

/// The fields of an action, and its name for messages.
struct Fields<'v>(&'v Json, &'v str);

impl Fields<'_> {
    fn get(&self, name: &str) -> Option<&Json> {
        let found = self.0.get(name).or_else(|| self.0.get(camel(name)));
        found.filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(Json::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }

    fn need(&self, name: &str) -> Result<String, String> {
        let text = self.text(name).ok_or_else(|| format!("`{}` has no text in `{name}`", self.1))?;
        match text.len() <= CONTENT_BYTES_MAX {
            true => Ok(text),
            false => Err(format!("`{name}` of `{}` is longer than {CONTENT_BYTES_MAX} bytes", self.1)),
        }
    }

    fn metadata(&self) -> Option<Json> {
        let given = self.get("metadata").filter(|value| value.as_object().is_some_and(|fields| !fields.is_empty()));
        given.filter(|value| value.to_string().len() <= METADATA_BYTES_MAX).cloned()
    }

    fn add(&self) -> Result<Action, String> {
        let kind = match self.text("shot_type").as_deref() {
            Some("action") => CellKind::Code,
            Some("dialogue" | "observation") | None => CellKind::Markdown,
            Some(other) => return Err(format!("`shot_type` is `{other}`; use action, dialogue or observation")),
        };
        let content = self.need("content")?;
        let content = PREFIXES.iter().find_map(|prefix| content.strip_prefix(prefix)).unwrap_or(&content).trim();
        let content = if kind == CellKind::Code { without_fence(content) } else { content };
        Ok(Action::Add {
            kind,
            content: content.to_owned(),
            store_id: self.text("store_id"),
            metadata: self.metadata(),
        })
    }

    fn heading(&self, is_chapter: bool) -> Result<Action, String> {
        let content = self.need("content")?;
        let content = content.trim().trim_start_matches('#').trim().to_owned();
        Ok(Action::Heading { is_chapter, content, metadata: self.metadata() })
    }

    fn thinking(&self) -> String {
        let several = self.get("text_array").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let several: Vec<_> = several.collect();
        let text = ["custom_text", "thinking_text"].iter().find_map(|name| self.text(name));
        let text =
            text.or_else(|| several.first().map(|_| several.join("\n"))).unwrap_or_else(|| "Thinking".to_owned());
        format!("{}: {text}", self.text("agent_name").unwrap_or_else(|| "AI".to_owned()))
    }
}

/// Removes a Markdown fence around code.
fn without_fence(content: &str) -> &str {
    let inner = content.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    // The first line names the language.
    inner.and_then(|inner| inner.split_once('\n')).map_or(content, |(_, code)| code.trim_end())
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
        name + &capital.into_iter().chain(letters).collect::<String>()
    })
}

fn snake(name: &str) -> String {
    let letters = name.chars().flat_map(|letter| {
        let line = letter.is_ascii_uppercase().then_some('_');
        line.into_iter().chain([letter.to_ascii_lowercase()])
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_of_names_and_fields_are_read() {
        let expected = Action::Exec { cell: "c".into(), needs_output: false };
        for value in [
            json!({ "action": "exec", "codecell_id": "c", "need_output": false }),
            json!({ "action": { "type": "exec", "codecellId": "c", "needOutput": false } }),
        ] {
            assert_eq!(Action::read(&value).unwrap(), expected);
        }
        let read = |name: &str| Action::read(&json!({ "action": name, "content": "## x", "title": "t" })).unwrap();
        assert_eq!(read("newChapter"), read("new_chapter"));
        assert_eq!(read("finishThinking"), Action::FinishThinking);
        assert_eq!(read("comment_result"), Action::Unknown("comment_result".into()));
    }

    #[test]
    fn phrases_and_fences_around_content_are_removed() {
        let content = |shot: &str, text: &str| match Action::read(
            &json!({ "action": "add", "shot_type": shot, "content": text }),
        ) {
            Ok(Action::Add { content, .. }) => content,
            other => format!("{other:?}"),
        };
        assert_eq!(content("action", "Add code to the notebook:\n```python\nx = 1\n```"), "x = 1");
        assert_eq!(content("action", "x = '```'"), "x = '```'");
        assert_eq!(content("dialogue", "Add text to the notebook: ```\nkept\n```"), "```\nkept\n```");
    }

    #[test]
    fn a_missing_field_is_named() {
        let wrong = |value: Json| Action::read(&value).unwrap_err();
        assert_eq!(wrong(json!({})), "it has no field `action`");
        assert_eq!(wrong(json!({ "action": "exec" })), "`exec` has no text in `codecell_id`");
        assert_eq!(wrong(json!({ "action": "add", "content": " " })), "`add` has no text in `content`");
        assert_eq!(wrong(json!({ "action": "update_title", "title": 3 })), "`update_title` has no text in `title`");
        let shot = wrong(json!({ "action": "add", "content": "x", "shot_type": "y" }));
        assert_eq!(shot, "`shot_type` is `y`; use action, dialogue or observation");
    }

    #[test]
    fn thinking_has_a_text_whatever_is_given() {
        let text = |value: Json| match Action::read(&value) {
            Ok(Action::IsThinking { text }) => text,
            other => format!("{other:?}"),
        };
        assert_eq!(text(json!({ "action": "is_thinking" })), "AI: Thinking");
        assert_eq!(text(json!({ "action": "is_thinking", "text_array": ["a", "b"], "agent_name": "P" })), "P: a\nb");
    }
}
