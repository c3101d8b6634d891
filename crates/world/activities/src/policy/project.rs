//! Reads the policy of a run: the default, overlaid with the project's own files.
//!
//! A run is bound to the files as they were when it began (`interlock_activity::project`): a run must not be able to
//! change its own policy.

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

use super::{BAD_POLICY, workspace_grants::WorkspaceGrants};

/// The most runs whose policy is kept in memory.
const RUNS_MAX: usize = 1_000;

/// The policies of runs, each read once.
#[derive(Clone, Debug, Default)]
pub(super) struct Policies {
    hosts: Arc<[String]>,
    grants: Option<WorkspaceGrants>,
    runs: Arc<Mutex<BTreeMap<Arc<str>, Arc<Policy>>>>,
}

impl Policies {
    /// Creates an empty collection with hosts that the user of the runtime has allowed.
    pub(super) fn new(hosts: Vec<String>) -> Self {
        Policies { hosts: hosts.into(), grants: None, runs: Arc::default() }
    }

    /// Sets Interlock's directory, which keeps the grants of workspaces.
    pub(super) fn with_home(self, home: Option<&Path>) -> Self {
        Policies { grants: home.map(WorkspaceGrants::new), ..self }
    }

    /// Returns the hosts that the user of the runtime has allowed.
    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the grants of workspaces, if there is a directory that keeps them.
    pub(super) fn workspace_grants(&self) -> Option<&WorkspaceGrants> {
        self.grants.as_ref()
    }

    /// Returns the policy of a run. May block.
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

/// Reads the current policy of a project from the root of its workspace. May block.
pub(super) fn read(root: &Path) -> Result<Policy, Outcome> {
    policy(project::read(root, POLICY).map_err(bad)?)
}

fn policy(text: Option<String>) -> Result<Policy, Outcome> {
    match text {
        Some(text) => Policy::builtin().with_project(&text, POLICY).map_err(|problems| bad(problems.to_string())),
        None => Ok(Policy::builtin().clone()),
    }
}

/// Returns the risk weights for a machine. May block.
pub(crate) fn risks(attempt: &Attempt) -> Result<Table, Outcome> {
    let machine = attempt.invocation.definition.machine.as_str();
    match text(attempt, RISK)? {
        Some(text) => {
            Table::builtin().with_project(&text, RISK, Some(machine)).map_err(|problems| bad(problems.to_string()))
        }
        None => Ok(Table::builtin().clone()),
    }
}

/// Returns a file's text as it was when the run began, or `None` if there was no file.
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
