//! Where the policy of a run comes from: the default, with the project's own files laid over it.
//!
//! A run is held to the files as they were when it began (`interlock_activity::project`): what is held to a policy must not be able to change it.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

pub(super) use interlock_activity::project::root;
use interlock_activity::{
    Attempt, Outcome, ProjectFile,
    project::{self, POLICY, RISK},
};
use interlock_policy::{Policy, risk::Table};

use super::BAD_POLICY;

/// The most runs whose policy is kept.
const RUNS_MAX: usize = 1_000;

/// The policies of runs, each read once.
#[derive(Clone, Debug, Default)]
pub(super) struct Policies {
    hosts: Arc<[String]>,
    runs: Arc<Mutex<BTreeMap<Arc<str>, Arc<Policy>>>>,
}

impl Policies {
    /// With hosts that whoever started the runtime has allowed.
    pub(super) fn new(hosts: Vec<String>) -> Self {
        Policies { hosts: hosts.into(), runs: Arc::default() }
    }

    /// The policy of a run. May block.
    pub(super) fn of(&self, attempt: &Attempt) -> Result<Arc<Policy>, Outcome> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(policy) = runs.get(&attempt.run) {
            return Ok(Arc::clone(policy));
        }
        let policy = Arc::new(policy(text(attempt, POLICY)?)?.with_hosts(&self.hosts));
        if runs.len() >= RUNS_MAX {
            runs.clear();
        }
        runs.insert(Arc::clone(&attempt.run), Arc::clone(&policy));
        Ok(policy)
    }
}

/// The policy of a project as it is today, from the root of its workspace. May block.
pub(super) fn read(root: &Path) -> Result<Policy, Outcome> {
    policy(project::read(root, POLICY).map_err(bad)?)
}

fn policy(text: Option<String>) -> Result<Policy, Outcome> {
    match text {
        Some(text) => Policy::builtin().with_project(&text, POLICY).map_err(|problems| bad(problems.to_string())),
        None => Ok(Policy::builtin().clone()),
    }
}

/// The weights of risks for a machine. May block.
pub(super) fn risks(attempt: &Attempt) -> Result<Table, Outcome> {
    let machine = attempt.invocation.definition.machine.as_str();
    match text(attempt, RISK)? {
        Some(text) => {
            Table::builtin().with_project(&text, RISK, Some(machine)).map_err(|problems| bad(problems.to_string()))
        }
        None => Ok(Table::builtin().clone()),
    }
}

/// A file's text as it was when the run began; nothing if there was none.
fn text(attempt: &Attempt, path: &str) -> Result<Option<String>, Outcome> {
    match attempt.host.project_file(&attempt.run, path).map_err(bad)? {
        ProjectFile::Text(text) => Ok(Some(text)),
        ProjectFile::Absent => Ok(None),
        ProjectFile::NotKept => project::read(&root(&attempt.folder), path).map_err(bad),
    }
}

fn bad(why: String) -> Outcome {
    Outcome::error(BAD_POLICY, why)
}
