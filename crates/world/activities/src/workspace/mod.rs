//! Activities on the files of a run: inspecting, keeping, changing, restoring and committing them.
//!
//! `crates/world/workspace` does the work; this module only translates between a machine's data and its functions.

mod apply;
mod changes;
mod checkpoint;
mod commit;
mod context;
mod hooks;
mod open;
mod restore;
mod snapshot;
mod undo;

use std::path::PathBuf;

use interlock_activity::{Attempt, Ending, Outcome, Registry, code};
use interlock_journal::Evidence;
use interlock_process::Sandbox;
use interlock_workspace::{Error, Workspace};

pub use apply::WorkspaceApply;
pub use changes::WorkspaceChanges;
pub use checkpoint::WorkspaceCheckpoint;
pub use commit::{GitCommit, WorkspaceCommit};
pub use context::WorkspaceContext;
pub use open::WorkspaceOpen;
pub use restore::WorkspaceRestore;
pub use snapshot::WorkspaceSnapshot;
pub use undo::WorkspaceUndo;

/// The code of an error: there is no snapshot of this name.
const NO_SNAPSHOT: &str = "NO_SNAPSHOT";

/// The code of an error: an operation failed midway and could not be undone completely.
const TORN: &str = "TORN";

/// The code of an error: the workspace does not have the expected tree.
const TREE_CHANGED: &str = "TREE_CHANGED";

/// Adds all workspace activities to a registry.
pub(super) fn all(registry: Registry, workspace: &Workspace, home: Option<PathBuf>, sandbox: &Sandbox) -> Registry {
    registry
        .with(WorkspaceOpen::new(workspace.clone()))
        .with(WorkspaceContext::new(workspace.clone(), home.clone()))
        .with(WorkspaceSnapshot::new(workspace.clone()))
        .with(WorkspaceChanges::new(workspace.clone(), home))
        .with(WorkspaceCheckpoint::new(workspace.clone()))
        .with(WorkspaceApply::new(workspace.clone()))
        .with(WorkspaceRestore::new(workspace.clone()))
        .with(WorkspaceUndo)
        .with(WorkspaceCommit::new(workspace.clone(), sandbox.clone()))
        .with(GitCommit::new(workspace.clone(), sandbox.clone()))
}

/// Runs work that may block on a thread for blocking work.
pub(crate) fn begin(
    attempt: Attempt,
    work: impl FnOnce(&Attempt) -> Result<Outcome, Outcome> + Send + 'static,
) -> Ending {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(move || work(&attempt).unwrap_or_else(|error| error));
        done.await.unwrap_or_else(|error| Outcome::error(code::FAILED, error.to_string()))
    })
}

/// Returns the signal for success: the machine's own name if it has one, because these activities can only succeed or
/// fail.
fn done<'a>(attempt: &'a Attempt, otherwise: &'a str) -> &'a str {
    attempt.invocation.signal_names().next().unwrap_or(otherwise)
}

pub(crate) fn failed(error: &Error) -> Outcome {
    let code = match error {
        Error::NoSnapshot(_) => NO_SNAPSHOT,
        Error::Torn { .. } => TORN,
        Error::TreeChanged { .. } => TREE_CHANGED,
        _ => code::FAILED,
    };
    Outcome::error(code, error.to_string())
}

/// Stores content as evidence of the attempt.
pub(crate) fn keep(attempt: &Attempt, name: &str, media: &str, content: &[u8]) -> Result<Evidence, Outcome> {
    let kept = attempt.evidence.put(name, media, content);
    kept.map_err(|error| Outcome::not_stored(format!("`{name}` could not be stored: {error}")))
}
