//! Where the policy of a run comes from: the default, with the project's own files laid over it.
//!
//! A run keeps the policy that it first met in a process: what is held to a policy must not be able to change it on the way.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use interlock_activity::{Attempt, Outcome};
use interlock_policy::{Policy, risk::Table};

use super::BAD_POLICY;

/// A project's policy, from the root of its workspace.
const POLICY: &str = ".interlock/policy.toml";
/// A project's weights of risks.
const RISK: &str = ".interlock/risk.toml";

/// The longest file of either kind that is read.
const BYTES_MAX: u64 = 1024 * 1024;

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
        let policy = Arc::new(read(&root(&attempt.folder))?.with_hosts(&self.hosts));
        if runs.len() >= RUNS_MAX {
            runs.clear();
        }
        runs.insert(Arc::clone(&attempt.run), Arc::clone(&policy));
        Ok(policy)
    }
}

fn read(root: &Path) -> Result<Policy, Outcome> {
    match text(&root.join(POLICY))? {
        Some(text) => Policy::builtin().with_project(&text, POLICY).map_err(|problems| bad(problems.to_string())),
        None => Ok(Policy::builtin().clone()),
    }
}

/// The weights of risks for a machine. May block.
pub(super) fn risks(attempt: &Attempt) -> Result<Table, Outcome> {
    let machine = attempt.invocation.definition.machine.as_str();
    match text(&root(&attempt.folder).join(RISK))? {
        Some(text) => {
            Table::builtin().with_project(&text, RISK, Some(machine)).map_err(|problems| bad(problems.to_string()))
        }
        None => Ok(Table::builtin().clone()),
    }
}

/// A file's text; nothing where there is none.
fn text(path: &Path) -> Result<Option<String>, Outcome> {
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(file) if file.len() > BYTES_MAX => {
            return Err(bad(format!("{} is longer than {BYTES_MAX} bytes", path.display())));
        }
        _ => {}
    }
    fs::read_to_string(path).map(Some).map_err(|error| bad(format!("{} cannot be read: {error}", path.display())))
}

fn bad(why: String) -> Outcome {
    Outcome::error(BAD_POLICY, why)
}

/// The root of the workspace: that of the git repository, or else the folder itself.
pub(super) fn root(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find(|above| above.join(".git").exists()).map_or(folder.clone(), Path::to_owned)
}
