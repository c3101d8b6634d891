//! Programs that an environment starts: always in the sandbox, each with one folder that it may change.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::Outcome;
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
    /// Whether it must not run where this computer cannot confine it.
    pub(crate) is_untrusted: bool,
}

impl Confined {
    /// How it is started. What the user's settings allow beyond that is not for it, but for their builds.
    pub(crate) fn plan(self, bench: Bench<'_>) -> Result<Plan, Trouble> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut rules = bench.sandbox.config.rules(std::fs::canonicalize(&self.writable)?, home.as_deref());
        rules.store.clone_from(&bench.sandbox.store);
        if self.is_untrusted {
            rules.write.clear();
            rules.network = Network::Off;
            rules.required = true;
            rules.sandbox = if rules.sandbox == Kind::None { Kind::Landlock } else { rules.sandbox };
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
            tell: [Tell::Nothing; 2],
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
    match &outcome.result {
        interlock_journal::AttemptResult::Error { data } => {
            data.get("message").and_then(|message| message.as_str()).unwrap_or_default().to_owned()
        }
        interlock_journal::AttemptResult::Signal { name, .. } => name.clone(),
    }
}
