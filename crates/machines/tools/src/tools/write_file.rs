//! `write_file`: writes a whole file.

use interlock_policy::{ChangeKind, FileChange, Request};
use serde_json::{Value as Json, json};

use super::{arguments, text, write};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    requests::{Given, Unstated},
    scene::Scene,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: "write_file",
        description: "Writes a whole file: makes it with its directories, or replaces its content. For a change in a long \
                      file use `apply_patch`.",
        args_schema: arguments(
            2,
            [
                ("path", text("The file, relative to the workspace's root")),
                ("content", json!({ "type": "string", "description": "The whole content, byte for byte" })),
            ],
        ),
        result: "`files` (`path`, `change`: added or modified, `added_lines`, `removed_lines`), `diff`",
        permission: "fs.write",
        effect: Effect::Write,
        idempotent: false,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    let added = given.text("content").lines().map(str::to_owned).collect();
    let (path, kind, removed) = (given.need("path")?, ChangeKind::Modified, Vec::new());
    let file = FileChange { path, kind, added, removed };
    Ok(vec![Request::Patch(interlock_policy::Patch { files: vec![file] })])
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let attempt = write::snapshot(scene)?;
    let path = write::path(scene, args.need("path"))?;
    let content = args.need("content");
    write::check_marks(scene, "content", &path, content)?;
    let expected = scene.seen.expected([path.as_path()]);
    let folder = &scene.attempt.folder;
    let written = scene.workspace.replace_in(folder, &path, Some(content.as_bytes()), &expected, Some(attempt));
    write::finish(scene, written)
}
