//! `prd.seal`: commits the PRD that a person has confirmed, if it is still the one that they saw.

use interlock_activity::{Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, schema};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;

use crate::{begin, committing::commit_files, hash, read_document};

/// Commits a confirmed PRD.
#[derive(Clone, Debug)]
pub struct PrdSeal(Workspace);

impl PrdSeal {
    /// Creates the activity. `workspace` makes the commit.
    pub fn new(workspace: Workspace) -> Self {
        PrdSeal(workspace)
    }

    fn seal(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["path", "hash", "message"])?;
        let (path, expected) = (given.need_text("path")?, given.need_text("hash")?);
        let changed = |why: String| Outcome::signal("prd_changed", Value::map([("summary", Value::from(why))]));
        match read_document(attempt, path) {
            Err(why) => return Ok(changed(why)),
            Ok(text) if hash(&text) != expected => {
                return Ok(changed(format!("{path} is not the document that was confirmed")));
            }
            Ok(_) => {}
        }
        let (commit, evidence) = commit_files(&self.0, attempt, given.need_text("message")?, &[path])?;
        Ok(Outcome::signal("prd_sealed", Value::map([("commit", Value::from(commit))])).with(evidence))
    }
}

impl Activity for PrdSeal {
    fn name(&self) -> &str {
        "prd.seal"
    }

    fn summary(&self) -> &str {
        "Commits the PRD that a person has confirmed; a document that has changed since is not executed."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("prd_sealed"), Signal::open("prd_changed")] }
    }

    fn schema(&self) -> Schema {
        let fields = [("path", schema::text()), ("hash", schema::text()), ("message", schema::text())];
        schema::needing(schema::fields(fields), &["path", "hash", "message"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.seal(attempt))
    }
}
