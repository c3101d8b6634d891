//! The tools, one file each, and the table of them.

mod apply_patch;
mod delete_file;
mod git_diff;
mod git_log;
mod glob;
mod grep;
mod list_dir;
mod read_file;
mod run_terminal_cmd;
mod search;
mod write;
mod write_file;

use interlock_journal::Evidence;
use interlock_policy::Request;
use serde_json::{Value as Json, json};

use crate::{
    Tool, ToolError,
    args::Args,
    requests::{Given, Unstated},
    scene::Scene,
};

pub(crate) use run_terminal_cmd::call as run_program;

/// The result of a successful call.
#[derive(Debug)]
pub(crate) struct Reply {
    /// An object with the fields that the tool documents.
    pub(crate) payload: Json,
    pub(crate) evidence: Vec<Evidence>,
}

impl From<Json> for Reply {
    fn from(payload: Json) -> Self {
        Reply { payload, evidence: Vec::new() }
    }
}

/// The work of a tool.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// A function that may block.
    Files(fn(&Scene, &Args) -> Result<Json, ToolError>),
    /// A program that runs until it ends or is stopped.
    Program,
}

/// A tool with what it asks for and what it does.
pub(crate) struct Entry {
    pub(crate) tool: fn() -> Tool,
    /// Returns everything that a call is about to do.
    pub(crate) requests: fn(&Given<'_>) -> Result<Vec<Request>, Unstated>,
    pub(crate) work: Work,
}

/// Makes the entry of the module of a tool.
macro_rules! files {
    ($tool:ident) => {
        Entry { tool: $tool::tool, requests: $tool::requests, work: Work::Files($tool::call) }
    };
}

/// All tools, in the order in which a model sees them.
static TABLE: [Entry; 11] = [
    files!(read_file),
    files!(list_dir),
    files!(glob),
    files!(grep),
    files!(search),
    files!(apply_patch),
    files!(write_file),
    files!(delete_file),
    Entry { tool: run_terminal_cmd::tool, requests: run_terminal_cmd::requests, work: Work::Program },
    files!(git_diff),
    files!(git_log),
];

/// Returns all tools.
pub fn catalogue() -> Vec<Tool> {
    TABLE.iter().map(|entry| (entry.tool)()).collect()
}

/// Returns the tool of this name.
pub fn find(name: &str) -> Option<Tool> {
    entry(name).map(|entry| (entry.tool)())
}

/// Returns the entry of the tool of this name.
pub(crate) fn entry(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| (entry.tool)().name == name)
}

/// The schema of arguments: an object with exactly these fields, of which the first `required` must be given.
fn arguments<const N: usize>(required: usize, fields: [(&str, Json); N]) -> Json {
    let names: Vec<&str> = fields.iter().take(required).map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Json> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

fn text(description: &str) -> Json {
    json!({ "type": "string", "minLength": 1, "description": description })
}

fn number(least: u64, most: u64, description: &str) -> Json {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

fn flag(description: &str) -> Json {
    json!({ "type": "boolean", "description": description })
}
