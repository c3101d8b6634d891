//! `workspace.snapshot`: takes a snapshot of the files.

use interlock_activity::{Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, schema};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;

use super::{begin, done, failed};

/// Takes a snapshot of the files of a run. Repeating it is harmless: only the snapshot is written.
#[derive(Clone, Debug)]
pub struct WorkspaceSnapshot(Workspace);

impl WorkspaceSnapshot {
    /// Creates the activity. `workspace` takes the snapshots.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceSnapshot(workspace)
    }

    fn take(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["name"])?;
        let taken = match given.text("name")? {
            Some(name) => self.0.take_named(&attempt.folder, &attempt.run, name),
            None => self.0.take_tree(&attempt.folder, &attempt.run),
        };
        let (snapshot, tree) = taken.map_err(|error| failed(&error))?;
        let data = Value::map([("tree", Value::from(tree)), ("snapshot", Value::from(snapshot))]);
        Ok(Outcome::signal(done(attempt, "snapshot_taken"), data))
    }
}

impl Activity for WorkspaceSnapshot {
    fn name(&self) -> &str {
        "workspace.snapshot"
    }

    fn summary(&self) -> &str {
        "Stores the current files, including untracked ones."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        schema::fields([("name", schema::text())])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.take(attempt))
    }
}
