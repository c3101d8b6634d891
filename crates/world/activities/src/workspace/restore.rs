//! `workspace.restore`: restores the files of a snapshot or a checkpoint.

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::{Moved, Workspace};

use super::{begin, done, failed};

/// The code of an error: the branch has commits of others, or another branch is checked out. Nothing was changed.
const BRANCH_MOVED: &str = "BRANCH_MOVED";

/// Restores the files of a run. Takes a snapshot of the current files first.
#[derive(Clone, Debug)]
pub struct WorkspaceRestore(Workspace);

impl WorkspaceRestore {
    /// Creates the activity. `workspace` holds the snapshots.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceRestore(workspace)
    }

    fn restore(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["tree", "checkpoint", "stash", "move_back"])?;
        let tree = match (given.text("tree")?, given.text("checkpoint")?) {
            (Some(tree), None) => tree.to_owned(),
            (None, Some(name)) => {
                let found = self.0.find_checkpoint(&attempt.folder, &attempt.run, name);
                found.map_err(|error| failed(&error))?.tree
            }
            (Some(_), Some(_)) => {
                return Err(BadArgument::field("checkpoint", "cannot be given together with `with.tree`").into());
            }
            (None, None) => return Err(BadArgument::field("tree", "is missing, and so is `with.checkpoint`").into()),
        };
        // Decide about the branch first: if it cannot be moved back, nothing is changed.
        let moved = self.move_back(&given, attempt)?;
        // Always keep the current files, even if the machine does not ask for it: they may contain a user's work.
        let stash = self.0.take(&attempt.folder, &attempt.run).map_err(|error| failed(&error))?;
        if let Some(before) = &attempt.snapshot {
            let announced = self.0.announce_tree(&attempt.folder, &attempt.run, before, &tree);
            announced.map_err(|error| failed(&error))?;
        }
        let restored = self.0.restore_tree(&attempt.folder, &tree).map_err(|error| failed(&error))?;
        if let Some(moved) = &moved {
            let is_moved = self.0.take_back_commit(&attempt.folder, moved, false).map_err(|error| failed(&error))?;
            if !is_moved {
                let message = format!("{} was moved meanwhile; the files are restored", moved.reference);
                return Err(Outcome::error(code::FAILED, message));
            }
        }
        let left = restored.left.iter().map(|path| Value::from(path.as_str())).collect::<Vec<_>>();
        let data = [
            ("tree", Value::from(tree)),
            ("stash", Value::from(stash)),
            ("summary", Value::from(restored.to_string())),
            ("left", Value::List(left.into())),
            ("moved_back", moved.map_or(Value::Null, |moved| Value::from(moved.reference))),
        ];
        Ok(Outcome::signal(done(attempt, "restored"), Value::map(data)))
    }

    /// Returns the move of the branch that the machine asks for, or refuses it.
    fn move_back(&self, given: &Arguments<'_>, attempt: &Attempt) -> Result<Option<Moved>, Outcome> {
        let Some(order) = given.value("move_back") else { return Ok(None) };
        let order = Arguments::new(order, &["branch", "head", "commits"])?;
        let (Some(branch), Some(head)) = (order.text("branch")?, order.text("head")?) else { return Ok(None) };
        if branch.is_empty() || head.is_empty() {
            return Ok(None);
        }
        let ours = order.texts("commits")?.unwrap_or_default();
        let planned = self.0.plan_move_back(&attempt.folder, branch, head, &ours);
        planned.map_err(|error| Outcome::error(BRANCH_MOVED, format!("the branch is not moved back: {error}")))
    }
}

impl Activity for WorkspaceRestore {
    fn name(&self) -> &str {
        "workspace.restore"
    }

    fn summary(&self) -> &str {
        "Restores the files of a checkpoint or tree, after storing the current ones."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        let move_back = schema::fields([
            ("branch", schema::text()),
            ("head", schema::text()),
            ("commits", schema::list(schema::plain())),
        ]);
        schema::fields([
            ("tree", schema::text()),
            ("checkpoint", schema::text()),
            ("stash", schema::any()),
            ("move_back", move_back),
        ])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.restore(attempt))
    }
}
