//! `delete_file`: deletes one file.

use interlock_policy::{PathOp, Request};
use serde_json::Value as Json;

use super::{arguments, text, write};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    requests::{Given, Unstated},
    scene::Scene,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: "delete_file",
        description: "Deletes one file. It can be restored with undo.",
        args_schema: arguments(1, [("path", text("The file, relative to the workspace's root"))]),
        result: "`files` (`path`, `change`: deleted), `diff`",
        permission: "fs.delete",
        effect: Effect::Write,
        idempotent: false,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    Ok(vec![Request::Path { op: PathOp::Delete, path: given.need("path")? }])
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let attempt = write::snapshot(scene)?;
    let path = write::path(scene, args.need("path"))?;
    // A missing file is an error of its own, with the way to find the right one.
    scene.read(&path)?;
    let expected = scene.seen.expected([path.as_path()]);
    let written = scene.workspace.replace_in(&scene.attempt.folder, &path, None, &expected, Some(attempt));
    write::finish(scene, written)
}
