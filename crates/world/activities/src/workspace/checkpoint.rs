//! `workspace.checkpoint`: keeps the files as they are under a name.

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::moment;
use interlock_workspace::Workspace;

use super::{begin, done, failed};

/// Keeps the files of a run under a name. A retry creates one more checkpoint, which costs nothing, or finds the tag that an
/// interrupted attempt made.
#[derive(Clone, Debug)]
pub struct WorkspaceCheckpoint(Workspace);

impl WorkspaceCheckpoint {
    /// Creates the activity. `workspace` keeps the checkpoints.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceCheckpoint(workspace)
    }

    fn make(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["prefix", "name", "dated", "tagged"])?;
        let is_set = |name: &str| given.value(name) == Some(&Value::Bool(true));
        let made = match (given.text("name")?, given.text("prefix")?) {
            (Some(_), Some(_)) => {
                return Err(BadArgument::field("prefix", "cannot be given together with `with.name`").into());
            }
            (Some(name), None) => self.0.checkpoint(&attempt.folder, &attempt.run, name),
            (None, prefix) if is_set("dated") => {
                let name = format!("{}-{}", prefix.unwrap_or("checkpoint"), minute(attempt.host.now_ms()));
                match is_set("tagged") {
                    true => {
                        let message = format!("Checkpoint of {}, activity {}", attempt.run, attempt.activity.0);
                        self.0.tagged_checkpoint(&attempt.folder, &attempt.run, &name, &message)
                    }
                    false => self.0.unused_checkpoint(&attempt.folder, &attempt.run, &name),
                }
            }
            (None, _) if is_set("tagged") => return Err(BadArgument::field("tagged", "needs `dated: true`").into()),
            (None, prefix) => self.0.next_checkpoint(&attempt.folder, &attempt.run, prefix.unwrap_or("checkpoint")),
        };
        let checkpoint = made.map_err(|error| failed(&error))?;
        // A run without the list still works; its verification says that it is missing.
        let _ = interlock_verification::remember_dependencies(&self.0, self.0.store(), &attempt.folder, &attempt.run);
        let (branch, head) = self.0.checked_out(&attempt.folder).map_err(|error| failed(&error))?.unzip();
        let data = [
            ("tag", Value::from(checkpoint.name)),
            ("tree", Value::from(checkpoint.tree)),
            ("reference", Value::from(checkpoint.reference)),
            ("branch", branch.map_or(Value::Null, Value::from)),
            ("head", head.map_or(Value::Null, Value::from)),
        ];
        Ok(Outcome::signal(done(attempt, "checkpoint_created"), Value::map(data)))
    }
}

/// Formats a time as `YYYYMMDDHHMM`, in UTC.
fn minute(ms: i64) -> String {
    moment::rfc3339(ms).chars().filter(char::is_ascii_digit).take(12).collect()
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

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("prefix", schema::text()),
            ("name", schema::text()),
            ("dated", schema::flag()),
            ("tagged", schema::flag()),
        ])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.make(attempt))
    }
}
