//! `list_dir`: the entries of a directory.

use interlock_policy::Request;
use serde_json::{Value as Json, json};

use super::{arguments, number, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    requests::{Given, Unstated},
    scene::{Scene, shown},
    walk::Walk,
};

/// The most entries in a result.
const ENTRIES_MAX: usize = 500;

pub(super) fn tool() -> Tool {
    Tool {
        name: "list_dir",
        description: "Lists the files and directories below a directory of the workspace, without those that .gitignore \
                      excludes. A directory ends in `/`.",
        args_schema: arguments(
            0,
            [
                ("path", text("The directory, relative to the workspace's root; the root if it is missing")),
                ("depth", number(1, 8, "How many levels to list; 1 if it is missing")),
            ],
        ),
        result: "`path`, `entries` (paths relative to the root), `truncated`",
        permission: "fs.read",
        effect: Effect::Read,
        idempotent: true,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    given.reads_place()
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let path = scene.place(args.text("path"))?;
    if scene.root.join(&path).is_file() {
        return Err(ToolError::argument("path", "is a file").then("read a file with `read_file`"));
    }
    let mut walk = Walk::below(scene, &path, Some(args.number("depth", 1)))?;
    let mut entries: Vec<String> = Vec::new();
    for entry in walk.by_ref().take(ENTRIES_MAX + 1) {
        let mark = match (entry.is_folder, entry.is_link) {
            (true, _) => "/",
            (_, true) => " (a symbolic link)",
            _ => "",
        };
        entries.push(format!("{}{mark}", entry.path.display()));
    }
    let is_cut = entries.len() > ENTRIES_MAX || walk.is_cut;
    if is_cut {
        entries.truncate(ENTRIES_MAX);
        entries
            .push(format!("[cut: only the first {ENTRIES_MAX} entries; list a directory further down, or use glob]"));
    }
    Ok(json!({ "path": shown(&path), "entries": entries, "truncated": is_cut }))
}
