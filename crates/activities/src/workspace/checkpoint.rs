//! `workspace.checkpoint`: keeps the files as they are under a name.

use interlock_activity::{Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, schema};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;

use super::{begin, done, failed};

/// Keeps the files of a run under a name. A retry creates one more checkpoint, which costs nothing.
#[derive(Clone, Debug)]
pub struct WorkspaceCheckpoint(Workspace);

impl WorkspaceCheckpoint {
    /// Creates the activity. `workspace` keeps the checkpoints.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceCheckpoint(workspace)
    }

    fn make(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["prefix", "name"])?;
        let made = match (given.text("name")?, given.text("prefix")?) {
            (Some(_), Some(_)) => {
                return Err(BadArgument::field("prefix", "cannot be given together with `with.name`").into());
            }
            (Some(name), None) => self.0.checkpoint(&attempt.folder, &attempt.run, name),
            (None, prefix) => self.0.next_checkpoint(&attempt.folder, &attempt.run, prefix.unwrap_or("checkpoint")),
        };
        let checkpoint = made.map_err(|error| failed(&error))?;
        let data = [
            ("tag", Value::from(checkpoint.name)),
            ("tree", Value::from(checkpoint.tree)),
            ("reference", Value::from(checkpoint.reference)),
        ];
        Ok(Outcome::signal(done(attempt, "checkpoint_created"), Value::map(data)))
    }
}

impl Activity for WorkspaceCheckpoint {
    fn name(&self) -> &str {
        "workspace.checkpoint"
    }

    fn summary(&self) -> &str {
        "Stores the current files as a named checkpoint."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[&str] {
        &[]
    }

    fn schema(&self) -> Schema {
        schema::fields([("prefix", schema::text()), ("name", schema::text())])
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.make(attempt))
    }
}
