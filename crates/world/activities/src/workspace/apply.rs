//! `workspace.apply`: applies a patch completely or not at all.

use std::{collections::BTreeMap, path::PathBuf};

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, project::root,
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::{
    Error, Workspace,
    patch::{Patch, check_path},
};

use super::{begin, failed, keep};

const KNOWN: [&str; 3] = ["patch", "tree", "expect"];

/// Applies a patch to the files of a run.
#[derive(Clone, Debug)]
pub struct WorkspaceApply(Workspace);

impl WorkspaceApply {
    /// Creates the activity. `workspace` applies the patches.
    pub fn new(workspace: Workspace) -> Self {
        WorkspaceApply(workspace)
    }

    fn apply(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let patch = given.need_text("patch")?;
        let expected = expected(&given)?;
        let evidence = keep(attempt, "patch", "text/x-diff", patch.as_bytes())?;
        let outcome = match self.apply_text(attempt, patch, given.text("tree")?, &expected) {
            Ok((tree, summary)) => {
                let data = Value::map([("tree", Value::from(tree)), ("summary", Value::from(summary))]);
                UPDATED.outcome(data)
            }
            Err(error @ (Error::Torn { .. } | Error::TreeChanged { .. } | Error::NoGit(_))) => {
                return Err(failed(&error));
            }
            Err(error) => {
                let problems = keep(attempt, "problems", "text/plain", error.to_string().as_bytes())?;
                let refs = [&evidence, &problems].map(|evidence| Value::from(evidence.hash.to_string()));
                let data =
                    [("summary", Value::from(error.to_string())), ("evidence_refs", Value::List(refs.to_vec().into()))];
                FAILED.outcome(Value::map(data)).with([problems])
            }
        };
        Ok(outcome.with([evidence]))
    }

    /// Applies the text of a patch. Returns the tree afterwards and a summary.
    fn apply_text(
        &self,
        attempt: &Attempt,
        text: &str,
        tree: Option<&str>,
        expected: &BTreeMap<PathBuf, String>,
    ) -> Result<(String, String), Error> {
        let patch = Patch::parse(text.as_bytes()).map_err(|problem| Error::Patch(vec![problem]))?;
        if let Some(expected) = tree {
            let found = self.0.kept_tree(&attempt.folder)?;
            if found != expected {
                return Err(Error::TreeChanged { expected: expected.to_owned(), found });
            }
        }
        let of = attempt.snapshot.as_deref().map(|before| (&*attempt.run, before));
        self.0.apply_in(&attempt.folder, &patch, expected, of)?;
        Ok((self.0.kept_tree(&attempt.folder)?, patch.summary()))
    }
}

/// Returns the SHA-256 hashes that files must have before.
fn expected(given: &Arguments<'_>) -> Result<BTreeMap<PathBuf, String>, BadArgument> {
    let pairs = given.pairs("expect")?.into_iter();
    let checked = pairs.map(|(path, hash)| match check_path(path.as_bytes()) {
        Ok(clean) => Ok((clean, hash)),
        Err(why) => Err(BadArgument::field("expect", format!("has the path `{path}`, which {why}"))),
    });
    checked.collect()
}

const UPDATED: Signal =
    Signal::new("workspace_updated", || schema::fields([("tree", schema::text()), ("summary", schema::text())]));
const FAILED: Signal = Signal::new("apply_failed", || {
    schema::fields([("summary", schema::text()), ("evidence_refs", schema::list(schema::text()))])
});

impl Activity for WorkspaceApply {
    fn name(&self) -> &str {
        "workspace.apply"
    }

    fn summary(&self) -> &str {
        "Applies a patch completely, or changes nothing."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[UPDATED, FAILED]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("patch", schema::text()),
            ("tree", schema::text()),
            ("expect", schema::map(schema::text())),
        ]);
        schema::needing(fields, &["patch"])
    }

    /// The files that decide which programs run outside of the sandbox. `policy.check` covers the others, if the machine
    /// uses it.
    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &KNOWN)?;
        // What cannot be read is not applied either.
        let Ok(patch) = Patch::parse(given.need_text("patch")?.as_bytes()) else { return Ok(Vec::new()) };
        let folder = site.folder.canonicalize().unwrap_or_else(|_| site.folder.to_path_buf());
        Ok(interlock_tools::protected(&interlock_tools::seen(&patch), &root(site.folder), &folder))
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.apply(attempt))
    }
}
