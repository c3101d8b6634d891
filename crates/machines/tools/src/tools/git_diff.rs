//! `git_diff`: the changes between two versions in the repository.

use interlock_policy::Request;
use serde_json::{Value as Json, json};

use super::{arguments, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    cut::{self, TEXT_BYTES_MAX},
    problem::io,
    requests::{Given, Unstated},
    scene::Scene,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: "git_diff",
        description: "Shows changes as a diff: the uncommitted changes of tracked files, or those between two commits.",
        args_schema: arguments(
            0,
            [
                ("path", text("Only this file or directory")),
                ("from", text("The commit to compare with; HEAD if it is missing")),
                ("to", text("The later commit; the files of the workspace if it is missing")),
            ],
        ),
        result: "`diff`, `truncated`",
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
    let [from, to] = ["from", "to"].map(|field| args.text(field).map(|text| revision(field, text)).transpose());
    let diff = scene.workspace.history_diff(&scene.root, from?.unwrap_or("HEAD"), to?, &path);
    let diff =
        diff.map_err(|error| io(error.to_string()).then("`git_log` lists the commits; `from` and `to` are commits"))?;
    let diff = String::from_utf8_lossy(&diff);
    let (diff, is_cut) = cut::after_lines(&diff, TEXT_BYTES_MAX, "give a `path` to see the rest");
    Ok(json!({ "diff": diff, "truncated": is_cut }))
}

/// Checks the name of a commit. An option or a range is none.
pub(super) fn revision<'t>(field: &str, text: &'t str) -> Result<&'t str, ToolError> {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "._/-~^@{}".contains(letter);
    match !text.starts_with('-') && text.chars().all(is_fit) && !text.contains("..") {
        true => Ok(text),
        false => Err(ToolError::argument(field, "is not the name of a commit, a branch or a tag")),
    }
}
