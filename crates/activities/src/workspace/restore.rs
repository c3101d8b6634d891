//! `workspace.restore`: restores the files of a snapshot or a checkpoint.

use interlock_activity::{Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, schema};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;

use super::{begin, done, failed};

/// Restores the files of a run. Takes a snapshot of the current files first.
#[derive(Clone, Debug)]
pub struct WorkspaceRestore(Workspace);

impl WorkspaceRestore {
    /// Creates the activity. `workspace` holds the snapshots.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceRestore(workspace)
    }

    fn restore(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["tree", "checkpoint", "stash"])?;
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
        // Always keep the current files, even if the machine does not ask for it: they may contain a user's work.
        let stash = self.0.take(&attempt.folder, &attempt.run).map_err(|error| failed(&error))?;
        if let Some(before) = &attempt.snapshot {
            let announced = self.0.announce_tree(&attempt.folder, &attempt.run, before, &tree);
            announced.map_err(|error| failed(&error))?;
        }
        let restored = self.0.restore_tree(&attempt.folder, &tree).map_err(|error| failed(&error))?;
        let left = restored.left.iter().map(|path| Value::from(path.as_str())).collect::<Vec<_>>();
        let data = [
            ("tree", Value::from(tree)),
            ("stash", Value::from(stash)),
            ("summary", Value::from(restored.to_string())),
            ("left", Value::List(left.into())),
        ];
        Ok(Outcome::signal(done(attempt, "restored"), Value::map(data)))
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

    fn signals(&self) -> &[&str] {
        &[]
    }

    fn schema(&self) -> Schema {
        schema::fields([("tree", schema::text()), ("checkpoint", schema::text()), ("stash", schema::any())])
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.restore(attempt))
    }
}
