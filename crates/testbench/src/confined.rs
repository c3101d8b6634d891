//! Programs that an environment starts: always in the sandbox, each with one folder that it may change.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::Outcome;
use interlock_journal::AttemptResult;
use interlock_program::{Plan, Tell};
use interlock_sandbox::{Kind, Network};

use crate::{Bench, Trouble};

/// How much of what it prints is kept.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// The variable that says which session a program belongs to.
pub(crate) const SESSION: &str = "INTERLOCK_SESSION";

/// A program of an environment.
pub(crate) struct Confined {
    /// The program, found already, and its arguments.
    pub(crate) words: Vec<OsString>,
    /// Where it starts.
    pub(crate) folder: PathBuf,
    /// What it may change.
    pub(crate) writable: PathBuf,
    /// Variables it sees besides the usual ones.
    pub(crate) env: BTreeMap<String, String>,
    /// When it is stopped.
    pub(crate) timeout: Duration,
    /// What those who watch hear of it.
    pub(crate) tell: Tell,
    /// What it is trusted with.
    pub(crate) trust: Trust,
}

/// What a program is trusted with besides its folder.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// Nothing: whatever the user's settings allow is not for it. It does not run where this computer cannot confine it.
    Nothing,
    /// What the user's settings allow, and these.
    Settings {
        /// Whom it may talk to, where that is not what the settings say.
        network: Option<Network>,
        /// What else it may change.
        write: Vec<PathBuf>,
    },
}

impl Confined {
    /// How it is started.
    pub(crate) fn plan(self, bench: Bench<'_>) -> Result<Plan, Trouble> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut rules = bench.sandbox.config.rules(std::fs::canonicalize(&self.writable)?, home.as_deref());
        rules.store.clone_from(&bench.sandbox.store);
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

/// The file of a program, or which package has it.
pub(crate) fn find(program: &str, folder: &Path, package: &str) -> Result<PathBuf, Trouble> {
    let missing = |_| Trouble::Missing { program: program.to_owned(), package: package.to_owned() };
    interlock_program::find(program, folder, &BTreeMap::new()).map_err(missing)
}

/// Why a program could not be run.
pub(crate) fn trouble(outcome: &Outcome) -> Trouble {
    Trouble::Environment(message(outcome))
}

/// The words of an error.
pub(crate) fn message(outcome: &Outcome) -> String {
    field(outcome, "message")
}

/// A field of an error.
pub(crate) fn field(outcome: &Outcome, name: &str) -> String {
    match &outcome.result {
        AttemptResult::Error { data } => data.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned(),
        AttemptResult::Signal { name, .. } => name.clone(),
    }
}
