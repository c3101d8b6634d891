//! The change of the workspace in a turn, from our own snapshots.

use interlock_activity::{Attempt, Outcome};
use interlock_workspace::{Workspace, patch::Patch};

use crate::Referee;

/// The change of the workspace in a turn.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The tree after the turn.
    pub(crate) tree: String,
    pub(crate) is_edited: bool,
    pub(crate) files: Vec<String>,
    /// The tests that were deleted, skipped or weakened.
    pub(crate) weakened: Vec<String>,
}

/// Returns the tree before the turn. May block.
pub(crate) fn before(workspace: &Workspace, attempt: &Attempt) -> Result<String, Outcome> {
    let tree = match &attempt.snapshot {
        Some(name) => workspace.tree_named(&attempt.folder, name),
        None => workspace.kept_tree(&attempt.folder),
    };
    tree.map_err(|error| failed(&error))
}

impl Change {
    /// Compares the workspace with its tree before the turn. May block.
    pub(crate) fn since(
        before: &str,
        workspace: &Workspace,
        attempt: &Attempt,
        referee: &dyn Referee,
    ) -> Result<Self, Outcome> {
        let tree = workspace.kept_tree(&attempt.folder).map_err(|error| failed(&error))?;
        if tree == before {
            return Ok(Change { tree, ..Change::default() });
        }
        let diff = workspace.diff_trees(&attempt.folder, before, &tree).map_err(|error| failed(&error))?;
        let files = match Patch::parse(&diff) {
            Ok(patch) => patch.paths().iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            Err(_) => Vec::new(),
        };
        let weakened = referee.weakened(attempt, &diff);
        Ok(Change { tree, is_edited: true, files, weakened })
    }
}

fn failed(error: &interlock_workspace::Error) -> Outcome {
    Outcome::error(interlock_activity::code::FAILED, error.to_string())
}
