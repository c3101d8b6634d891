//! Shared by the tools that write: a snapshot before, the file as the model knows it, and no redaction marks.

use std::path::{Path, PathBuf};

use interlock_workspace::{Error, patch::Plan};
use serde_json::Value as Json;

use crate::{ErrorCode, ToolError, diff, problem, scene::Scene};

/// The beginning of the marks that stand for secrets in everything that a model reads.
const MARK: &str = "[redacted: ";

/// Returns a path that may be written.
pub(super) fn path(scene: &Scene, text: &str) -> Result<PathBuf, ToolError> {
    let path = scene.path(text)?;
    scene.check_links(&path)?;
    Ok(path)
}

/// Returns the run and the snapshot of the attempt. Nothing is written without a snapshot, because it could not be
/// undone.
pub(super) fn snapshot(scene: &Scene) -> Result<(&str, &str), ToolError> {
    let missing = || {
        ToolError::new(ErrorCode::PolicyDenied, "there is no snapshot of the workspace to undo this write with")
            .then("let the machine invoke `tool.call` with `effect: write` for tools that write")
    };
    Ok((&*scene.attempt.run, scene.attempt.snapshot.as_deref().ok_or_else(missing)?))
}

/// Refuses content with the mark of a redacted secret, which the model has copied from what it was shown, unless the
/// file has such marks already.
pub(super) fn check_marks(scene: &Scene, field: &str, path: &Path, added: &str) -> Result<(), ToolError> {
    let is_known = || scene.read(path).is_ok_and(|now| String::from_utf8_lossy(&now).contains(MARK));
    match added.contains(MARK) && !is_known() {
        false => Ok(()),
        true => Err(ToolError::argument(
            field,
            format!("has `{MARK}…]` for {}: the mark stands for a secret that was not shown", path.display()),
        )
        .then("change only other lines, with `apply_patch`, so that the secret stays in the file as it is")),
    }
}

/// Records the written versions and returns the result.
pub(super) fn finish(scene: &Scene, written: Result<Plan, Error>) -> Result<Json, ToolError> {
    let plan = written.map_err(|error| problem::workspace(&error))?;
    for change in &plan.changes {
        match &change.after {
            Some(after) => scene.seen.add(&change.path, &after.content),
            None => scene.seen.remove(&change.path),
        }
    }
    Ok(diff::written(&plan))
}
