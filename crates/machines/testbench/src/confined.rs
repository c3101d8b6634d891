//! Programs that an environment starts: always in the sandbox, each with one writable directory.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::{Outcome, OutcomeKind};
use interlock_process::{Plan, Tell};
use interlock_sandbox::{Kind, Network};

use crate::{Bench, Trouble};

/// The number of output bytes that are kept.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// The environment variable that names the session of a program.
pub(crate) const SESSION: &str = "INTERLOCK_SESSION";

/// A program of an environment.
pub(crate) struct Confined {
    /// The path of the program, already resolved, and its arguments.
    pub(crate) words: Vec<OsString>,
    /// The program's working directory.
    pub(crate) folder: PathBuf,
    /// The directory that the program may write.
    pub(crate) writable: PathBuf,
    /// Variables in addition to the inherited ones.
    pub(crate) env: BTreeMap<String, String>,
    /// The time after which the program is stopped.
    pub(crate) timeout: Duration,
    /// The lines of output that are reported as progress.
    pub(crate) tell: Tell,
    /// The permissions beyond the writable directory.
    pub(crate) trust: Trust,
}

/// The permissions of a program beyond its writable directory.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// Nothing, not even the permissions of the user's settings. The program does not run if this computer cannot
    /// confine it.
    Nothing,
    /// The permissions of the user's settings plus the ones listed here.
    Settings {
        /// The network access, if it differs from the settings.
        network: Option<Network>,
        /// Additional writable paths.
        write: Vec<PathBuf>,
    },
}

impl Confined {
    /// Builds the plan with which the program is run.
    pub(crate) fn plan(self, bench: Bench<'_>) -> Result<Plan, Trouble> {
        let mut rules = bench.sandbox.usual_rules(std::fs::canonicalize(&self.writable)?);
        match self.trust {
            Trust::Nothing => {
                rules.write.clear();
                rules.network = Network::Off;
                rules.required = true;
                rules.sandbox = if rules.sandbox == Kind::None { Kind::Landlock } else { rules.sandbox };
            }
            Trust::Settings { network, write } => {
                rules.network = network.unwrap_or(rules.network);
                rules.write.extend(write);
            }
        }
        let mut env = self.env;
        env.insert(SESSION.to_owned(), bench.session.folder.display().to_string());
        Ok(Plan {
            words: self.words,
            folder: self.folder,
            env,
            stdin: Vec::new(),
            timeout: Some(self.timeout),
            output_bytes_max: OUTPUT_BYTES_MAX,
            tell: [self.tell; 2],
            rules,
            launcher: bench.sandbox.launcher.clone(),
        })
    }
}

/// Resolves a program to its file, or names the missing package.
pub(crate) fn find(program: &str, folder: &Path, package: &str) -> Result<PathBuf, Trouble> {
    let missing = |_| Trouble::Missing { program: program.to_owned(), package: package.to_owned() };
    interlock_process::find(program, folder, &BTreeMap::new()).map_err(missing)
}

/// Converts the outcome of a program that could not be run.
pub(crate) fn trouble(outcome: &Outcome) -> Trouble {
    Trouble::Environment(outcome.message())
}

/// Returns a field of an error outcome.
pub(crate) fn field(outcome: &Outcome, name: &str) -> String {
    match &outcome.kind {
        OutcomeKind::Error { data } => data.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned(),
        OutcomeKind::Signal { .. }
        | OutcomeKind::NeedsPerson { .. }
        | OutcomeKind::NotStored { .. }
        | OutcomeKind::Cancelled { .. } => String::new(),
    }
}
