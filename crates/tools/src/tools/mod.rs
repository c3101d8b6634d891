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
use serde_json::{Value as Json, json};

use crate::{Tool, ToolError, args::Args, scene::Scene};

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

/// A tool with its work.
type Entry = (fn() -> Tool, Work);

/// All tools, in the order in which a model sees them.
const TABLE: [Entry; 11] = [
    (read_file::tool, Work::Files(read_file::call)),
    (list_dir::tool, Work::Files(list_dir::call)),
    (glob::tool, Work::Files(glob::call)),
    (grep::tool, Work::Files(grep::call)),
    (search::tool, Work::Files(search::call)),
    (apply_patch::tool, Work::Files(apply_patch::call)),
    (write_file::tool, Work::Files(write_file::call)),
    (delete_file::tool, Work::Files(delete_file::call)),
    (run_terminal_cmd::tool, Work::Program),
    (git_diff::tool, Work::Files(git_diff::call)),
    (git_log::tool, Work::Files(git_log::call)),
];

/// Returns all tools.
pub fn catalogue() -> Vec<Tool> {
    TABLE.iter().map(|(tool, _)| tool()).collect()
}

/// Returns the tool of this name.
pub fn find(name: &str) -> Option<Tool> {
    with_work(name).map(|(tool, _)| tool)
}

/// Returns the tool of this name and its work.
pub(crate) fn with_work(name: &str) -> Option<(Tool, Work)> {
    TABLE.iter().map(|(tool, work)| (tool(), *work)).find(|(tool, _)| tool.name == name)
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
