//! `apply_patch`: changes files by a patch, completely or not at all.

use interlock_policy::Request;
use interlock_workspace::patch::{FilePatch, Patch, Sign};
use serde_json::Value as Json;

use super::{arguments, text, write};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    problem,
    requests::{Given, Unstated, seen},
    scene::Scene,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: "apply_patch",
        description: "Changes, adds, deletes or renames files by a patch, completely or not at all. The patch is a unified \
                      diff, or this form:\n*** Begin Patch\n*** Update File: path\n@@ a line above the change\n context\n\
                      -old line\n+new line\n*** Add File: path\n+every line\n*** Delete File: path\n*** End Patch\nPaths \
                      are relative to the workspace's root. Read the files first; give about three lines of context.",
        args_schema: arguments(1, [("patch", text("The patch"))]),
        result: "`files` (`path`, `change`: added, modified or deleted, `added_lines`, `removed_lines`), `diff`",
        permission: "fs.write",
        effect: Effect::Write,
        idempotent: false,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    let patch = Patch::parse(given.need("patch")?.as_bytes());
    let patch = patch.map_err(|problem| Unstated::Wrong(problem.to_string()))?;
    Ok(vec![Request::Patch(seen(&patch))])
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let attempt = write::snapshot(scene)?;
    let parsed = Patch::parse(args.need("patch").as_bytes());
    let patch = parsed.map_err(|wrong| problem::workspace(&interlock_workspace::Error::Patch(vec![wrong])))?;
    for path in patch.paths() {
        write::path(scene, &path.to_string_lossy())?;
    }
    for file in &patch.files {
        write::check_marks(scene, "patch", file.old.as_deref().unwrap_or(file.path()), &added(file))?;
    }
    let expected = scene.seen.expected(patch.paths());
    let written = scene.workspace.apply_in(&scene.attempt.folder, &patch, &expected, Some(attempt));
    write::finish(scene, written)
}

fn added(file: &FilePatch) -> String {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.sign == Sign::Add);
    lines.map(|line| String::from_utf8_lossy(&line.text).into_owned() + "\n").collect()
}
