//! The store of runs, and the first steps of every command about runs: opening the store, finding a run, and
//! identifying the user.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use interlock_activities::{Sandbox, Settings};
use interlock_activity::Registry;
use interlock_agent::settings::Settings as Agents;
use interlock_journal::{By, Engine, Filter, Head, Lease};
use interlock_judge::settings::Settings as Judges;
use interlock_redact::{Redactor, secrets_of};
use interlock_runtime::{Config, GitSnapshots, Live, LoadedMachine, Runtime, SystemClock, Workspace};
use interlock_sandbox::{Config as SandboxConfig, Launcher};
use interlock_sqlite::Journal;
use interlock_suggest::did_you_mean;

use crate::{
    anchor::{self, Delivery},
    compose,
    failure::Failure,
    follow,
    proof::Proofs,
};

/// The most concurrent attempts in one process.
const ATTEMPTS_MAX: usize = 16;

/// The most runs that are compared with a given prefix.
const CANDIDATES_MAX: usize = 1_000;

/// The user's store of runs.
#[derive(Debug)]
pub(crate) struct Store {
    /// The store's directory.
    pub(crate) home: PathBuf,
    /// The journal of all runs.
    pub(crate) journal: Arc<Journal>,
    /// The background delivery of anchors, if the settings ask for it.
    _anchors: Option<Delivery>,
}

impl Store {
    /// Opens the user's store, and creates it if it does not exist.
    pub(crate) fn open() -> Result<Self, Failure> {
        let home = home()?;
        let journal = Arc::new(Journal::open(&home)?);
        warn_of_losses(&journal)?;
        let anchors = Delivery::begin(&home, &journal)?;
        Ok(Store { home, journal, _anchors: anchors })
    }

    /// Returns the journal as the engine that makes runs durable.
    pub(crate) fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.journal) as Arc<dyn Engine>
    }

    /// Returns a run by its name, or by a prefix that no other run's name has.
    pub(crate) fn find(&self, name: &str) -> Result<Head, Failure> {
        if let Some(head) = self.journal.find(name)? {
            return Ok(head);
        }
        let prefix = Some(name.to_owned()).filter(|name| !name.is_empty());
        let mut found = self.journal.list(&Filter { prefix, at_most: CANDIDATES_MAX, ..Filter::default() })?;
        match (name, found.len()) {
            ("", _) | (_, 0) => Err(self.unknown(name)?),
            (_, 1) => Ok(found.remove(0)),
            _ => Err(ambiguous(name, &found)),
        }
    }

    fn unknown(&self, name: &str) -> Result<Failure, Failure> {
        let all = self.journal.list(&Filter { at_most: CANDIDATES_MAX, ..Filter::default() })?;
        let hint = match all.is_empty() {
            true => Some("there are no runs yet; start one with `interlock run`".to_owned()),
            false => did_you_mean(name, all.iter().map(|head| head.name.as_str())),
        };
        let hint = hint.unwrap_or_else(|| "list them with `interlock runs`".to_owned());
        Ok(Failure::bad_input(format!("there is no run called `{name}`")).hint(hint))
    }

    /// Loads a run's machine as it was when the run began.
    pub(crate) fn loaded(&self, head: &Head) -> Result<Arc<LoadedMachine>, Failure> {
        Ok(follow::loaded(&*self.journal, head)?)
    }

    /// Loads the current state of a run for reading only.
    pub(crate) fn live(&self, head: &Head) -> Result<Live, Failure> {
        let opened = self.journal.open(head.key)?;
        Ok(Live::load(&opened, self.loaded(head)?, Lease { epoch: 0 }, self.journal.evidence())?)
    }

    /// Makes the runtime, which runs the runs of this store.
    pub(crate) fn runtime(&self) -> Result<Runtime, Failure> {
        SandboxConfig::read(&self.home).map_err(|error| Failure::bad_input(error.to_string()))?;
        let live_folder = self.live_folder();
        interlock_journal::private::folder(&live_folder)?;
        Ok(Runtime::new(Config {
            engine: self.engine(),
            registry: registry().clone(),
            clock: Arc::new(SystemClock),
            snapshots: Arc::new(GitSnapshots::new(&self.home)),
            attempts_max: ATTEMPTS_MAX,
            live_folder,
            redactor: redactor(),
            prover: Arc::new(self.proofs()),
        }))
    }

    /// Returns the verdicts of `check` on machines.
    pub(crate) fn proofs(&self) -> Proofs {
        Proofs::new(&self.home)
    }

    /// Returns the directory with the output of attempts in progress.
    pub(crate) fn live_folder(&self) -> PathBuf {
        self.home.join("live")
    }
}

impl follow::Source for Store {
    fn engine(&self) -> Arc<dyn Engine> {
        Store::engine(self)
    }

    fn registry(&self) -> &'static Registry {
        registry()
    }
}

/// Warns if the store has lost records. Every command warns, because the loss affects all of them.
fn warn_of_losses(journal: &Journal) -> Result<(), Failure> {
    if !journal.losses()?.is_empty() {
        crate::output::tell("warning: this store has lost records; `interlock verify` shows which");
    }
    Ok(())
}

/// Returns every available activity.
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        let workspace = home().map(Workspace::new).unwrap_or_default().refusing(redactor());
        let settings = Settings { workspace, allowed_hosts: allowed_hosts(), sandbox: sandbox(), home: home().ok() };
        compose::activities(settings)
    });
    &REGISTRY
}

/// Returns the sandbox of programs. Unreadable settings allow no program; [`Store::runtime`] reports such settings
/// first.
pub(crate) fn sandbox() -> Sandbox {
    let store = home().ok();
    let config = store.as_deref().and_then(|home| SandboxConfig::read(home).ok());
    let strict = || SandboxConfig { require_sandbox: true, ..SandboxConfig::default() };
    let keys = store.as_deref().map(anchor::keys).unwrap_or_default();
    Sandbox { launcher: Launcher::default(), config: config.unwrap_or_else(strict), store, keys }
}

/// Returns the hosts that HTTP requests may go to, besides this computer: those of `$INTERLOCK_HTTP_HOSTS`.
pub(crate) fn allowed_hosts() -> Vec<String> {
    let said = std::env::var("INTERLOCK_HTTP_HOSTS").unwrap_or_default();
    said.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect()
}

/// Returns the redactor, which removes secrets from stored data: text that looks like a secret, the values of this
/// process's secret variables, and the keys that judges and agents are configured to use.
pub(crate) fn redactor() -> Arc<Redactor> {
    static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(|| {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        // The path of an existing file is not a secret, whatever its variable is called.
        let variables: Vec<(String, String)> =
            variables.filter(|(name, value)| !Redactor::is_secret_name(name) || !is_file(value)).collect();
        Arc::new(Redactor::new(secrets_of(&variables)).also(configured_keys()))
    });
    Arc::clone(&REDACTOR)
}

fn is_file(value: &str) -> bool {
    value.starts_with('/') && Path::new(value).exists()
}

/// Returns the keys in the settings of judges and agents. Settings that cannot be read are reported where they are used.
fn configured_keys() -> Vec<String> {
    let Ok(home) = home() else { return Vec::new() };
    let judges = Judges::load(Some(&home), &home).map(|judges| judges.keys()).unwrap_or_default();
    let agents = Agents::load(Some(&home), &home).map(|settings| settings.agents).unwrap_or_default();
    judges.into_iter().chain(agents.values().flat_map(interlock_agent::keys)).collect()
}

/// Returns the user who runs this command.
pub(crate) fn user() -> By {
    let said = ["INTERLOCK_USER", "USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok());
    By::user(said.into_iter().find(|name| !name.is_empty()).or_else(system_user).unwrap_or_else(|| "unknown".into()))
}

/// Returns the user name of this process, as the system reports it.
#[expect(clippy::disallowed_methods, reason = "the program was found where no other program can have put it")]
fn system_user() -> Option<String> {
    let id = interlock_beneath::programs::find("id", &[])?;
    let output = std::process::Command::new(id).arg("-un").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the directory of the user's store.
pub(crate) fn home() -> Result<PathBuf, Failure> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = named("INTERLOCK_HOME")
        .or_else(|| named("XDG_DATA_HOME").map(|data| data.join("interlock")))
        .or_else(|| named("HOME").map(|home| home.join(".local/share/interlock")));
    let home = home.ok_or_else(|| {
        Failure::bad_input("there is no directory to store runs in")
            .hint("set INTERLOCK_HOME to a directory that you own")
    })?;
    Ok(if home.is_absolute() { home } else { crate::machine::here().join(home) })
}

fn ambiguous(name: &str, found: &[Head]) -> Failure {
    const SHOWN_MAX: usize = 5;
    let mut names: Vec<&str> = found.iter().take(SHOWN_MAX).map(|head| head.name.as_str()).collect();
    if found.len() > SHOWN_MAX {
        names.push("…");
    }
    Failure::bad_input(format!("`{name}` matches {} runs", found.len()))
        .hint(format!("give more of its name: {}", names.join(", ")))
}

/// Returns the output files of a run's attempts in progress.
pub(crate) fn live_files(folder: &Path, run: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_of_run = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(run).is_some_and(|rest| rest.starts_with("-a") && rest.ends_with(".log"))
    };
    let mut files: Vec<PathBuf> = entries.filter(is_of_run).collect();
    files.sort();
    files
}
