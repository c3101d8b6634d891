//! The tools of a conversation: those of the machine's file, and the signals of the state, by which a model ends its
//! work.

use interlock_activity::Attempt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::CALL;
use interlock_model::ToolSpec;

/// A tool of the machine's file.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    description: String,
    pub(super) args_schema: Value,
    effect: String,
}

/// A signal by which a model ends its work on the question.
#[derive(Clone, Debug)]
pub(super) struct Finish {
    pub(super) name: String,
    schema: Value,
}

/// All tools of a conversation.
#[derive(Clone, Debug)]
pub(super) struct Tools {
    pub(super) tools: Vec<Tool>,
    pub(super) finishes: Vec<Finish>,
}

impl Tools {
    /// Reads the tools of a state.
    pub(super) fn read(attempt: &Attempt, path: &str) -> Result<Self, String> {
        let content = attempt.invocation.definition.file(path);
        let content = content.ok_or_else(|| format!("`with.tools`: the machine has no file {path}"))?;
        let tools: Vec<Tool> =
            serde_json::from_slice(content).map_err(|error| format!("`with.tools`: {path}: {error}"))?;
        if !attempt.invocation.takes(CALL) {
            return Err(format!("`with.tools`: the state does not take {CALL}"));
        }
        let others = attempt.invocation.signals.iter().filter(|signal| signal.name != CALL);
        let finish = |signal: &interlock_activity::HandledSignal| Finish {
            name: signal.name.clone(),
            schema: closed(&signal.data),
        };
        Ok(Tools { tools, finishes: others.map(finish).collect() })
    }

    /// Returns the tool with this name.
    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Reports if this is the name of a signal.
    pub(super) fn is_finish(&self, name: &str) -> bool {
        self.finishes.iter().any(|finish| finish.name == name)
    }

    /// Returns the signal and the field for a model that ends with text and calls nothing: the first signal that needs
    /// just one text.
    pub(super) fn said(&self) -> Option<(&str, &str)> {
        self.finishes.iter().find_map(|finish| match finish.schema["required"].as_array()?.as_slice() {
            [Value::String(field)] if finish.schema["properties"][field]["type"] == "string" => {
                Some((finish.name.as_str(), field.as_str()))
            }
            _ => None,
        })
    }

    /// Returns the names of all tools.
    pub(super) fn names(&self) -> Vec<&str> {
        let tools = self.tools.iter().map(|tool| tool.name.as_str());
        tools.chain(self.finishes.iter().map(|finish| finish.name.as_str())).collect()
    }

    /// Returns all tools as a model sees them.
    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        let tool = |tool: &Tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.args_schema.clone(),
        };
        let finish = |finish: &Finish| ToolSpec {
            name: finish.name.clone(),
            description: format!("Ends your work on this question with `{}`.", finish.name),
            schema: finish.schema.clone(),
        };
        self.tools.iter().map(tool).chain(self.finishes.iter().map(finish)).collect()
    }

    /// Returns the schema of an answer of a model that cannot call tools.
    pub(super) fn answer_schema(&self) -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["say", "tool", "args"],
            "properties": {
                "say": { "type": "string" },
                "tool": { "type": "string", "enum": self.names() },
                "args": { "type": "object" },
            },
        })
    }
}

impl Tool {
    /// Reports if the tool only reads, so that several calls can be made at once.
    pub(super) fn only_reads(&self) -> bool {
        self.effect == "read"
    }

    /// Returns the problems of arguments.
    pub(super) fn misfits(&self, args: &Value) -> Vec<String> {
        let Ok(validator) = jsonschema::draft202012::new(&self.args_schema) else { return Vec::new() };
        let told = validator.iter_errors(args).take(5).map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("{}: {error}", path.trim_start_matches('/')),
        });
        told.collect()
    }
}

/// Returns the schema of a signal's data as an object without other fields.
fn closed(data: &Value) -> Value {
    let mut schema = data.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("type".to_owned(), json!("object"));
        fields.entry("properties").or_insert_with(|| json!({}));
        fields.entry("additionalProperties").or_insert(json!(false));
    }
    schema
}
