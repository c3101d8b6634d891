//! `workspace.open`: checks that the directory of a run can be used.

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;

use super::{begin, done, failed};

const KNOWN: [&str; 3] = ["repo", "constraints", "test_profile"];

/// Checks the directory of a run.
#[derive(Clone, Debug)]
pub struct WorkspaceOpen(Workspace);

impl WorkspaceOpen {
    /// Creates the activity. `workspace` inspects the directory.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceOpen(workspace)
    }

    fn open(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let root = self.0.root(&attempt.folder).map_err(|error| failed(&error))?;
        if let Some(repo) = given.text("repo")? {
            let wrong = |why: String| Outcome::from(BadArgument::field("repo", why));
            let folder = attempt.folder.join(repo).canonicalize();
            let folder = folder.map_err(|error| wrong(format!("cannot be used: {repo}: {error}")))?;
            if !folder.is_dir() || !folder.starts_with(&root) {
                return Err(wrong(format!(
                    "is not a directory of the run's workspace {}; give `--repo`",
                    root.display()
                )));
            }
        }
        let is_repository = self.0.is_repository(&attempt.folder).map_err(|error| failed(&error))?;
        let data = Value::map([
            ("root", Value::from(root.display().to_string())),
            ("is_repository", Value::Bool(is_repository)),
        ]);
        Ok(Outcome::signal(done(attempt, "opened"), data))
    }
}

impl Activity for WorkspaceOpen {
    fn name(&self) -> &str {
        "workspace.open"
    }

    fn summary(&self) -> &str {
        "Checks that the run's directory can be used."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        schema::fields([("repo", schema::text()), ("constraints", schema::any()), ("test_profile", schema::any())])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.open(attempt))
    }
}
