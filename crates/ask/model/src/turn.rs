//! The messages of a conversation with a model, independent of the protocol: texts, tool calls and their results.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", content = "text", rename_all = "snake_case")]
pub enum Turn {
    /// A message that we wrote.
    User(String),
    /// A message that the model wrote.
    Model(String),
    /// A message in which the model calls tools.
    Calls(CallsTurn),
    /// The results of the calls in the message before.
    Results(Vec<ToolResult>),
}

/// A message in which a model calls tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsTurn {
    /// The text beside the calls.
    pub say: String,
    /// The calls, in the model's order.
    pub calls: Vec<ToolCall>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id by which the result refers to it.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: an object, or a string if the model's text is not an object.
    pub args: Value,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// True if the call succeeded.
    pub ok: bool,
    /// The result as text.
    pub text: String,
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name that the model uses.
    pub name: String,
    /// The purpose of the tool, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

impl Turn {
    /// Returns true and the text of a message of ours, or false and the text of one of the model, for servers without
    /// tools.
    pub fn plain(&self) -> (bool, String) {
        match self {
            Turn::User(text) => (true, text.clone()),
            Turn::Model(text) => (false, text.clone()),
            Turn::Calls(CallsTurn { say, calls }) => {
                let mut calls = calls.iter();
                let said = |say: &str, call: &ToolCall| {
                    json!({ "say": say, "tool": call.name, "args": call.args }).to_string()
                };
                let first = calls.next().map(|call| said(say, call));
                (false, first.into_iter().chain(calls.map(|call| said("", call))).collect::<Vec<_>>().join("\n"))
            }
            Turn::Results(results) => {
                let told = |result: &ToolResult| {
                    let how = if result.ok { "answered" } else { "failed" };
                    format!("`{}` {how}:\n{}", result.name, result.text)
                };
                (true, results.iter().map(told).collect::<Vec<_>>().join("\n\n"))
            }
        }
    }

    /// Estimates the tokens of the message.
    pub fn tokens(&self) -> u64 {
        match self {
            Turn::User(text) | Turn::Model(text) => crate::estimate_tokens(text),
            Turn::Calls(_) | Turn::Results(_) => crate::estimate_tokens(&self.plain().1),
        }
    }
}
