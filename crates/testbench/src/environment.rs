//! The contract of every environment in which firmware runs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    pin::Pin,
    time::Duration,
};

use interlock_activity::{Attempt, Effect};
use interlock_program::Sandbox;
use serde::{Deserialize, Serialize};

use crate::{Session, Trouble};

/// A running operation of an environment.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'a>>;

/// The arguments of every operation.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The attempt, which receives progress and signals cancellation.
    pub attempt: &'a Attempt,
    /// The session, whose directory holds all files.
    pub session: &'a Session,
    /// The confinement of programs.
    pub sandbox: &'a Sandbox,
}

/// A kind of environment in which firmware runs. Only the session's directory (and, on a board, the board itself)
/// keeps state between operations. Every operation ends soon after its attempt is cancelled and leaves no process
/// behind.
pub trait Environment: Send + Sync {
    /// Returns the effect class of an operation.
    fn effect(&self, operation: Operation) -> Effect;

    /// Returns the resources of which a run needs one exclusively. Empty if the environment shares nothing.
    fn resources(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks that everything needed is available. `bench.session.resource` is the acquired resource.
    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()>;

    /// Deploys the session's image to the environment.
    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()>;

    /// Checks that the environment responds; returns the observations as text.
    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String>;

    /// Starts the firmware or its tests once and waits for the end. A failure, crash, hang or timeout is not an error
    /// but part of the result. `folder` is the directory of this start within the session, for logs and artifacts.
    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran>;

    /// Fetches the logs that were not received during the run into the session's `logs` directory.
    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<Kept>>;

    /// Fetches the other files into the session's `artifacts` directory.
    fn fetch_artifacts<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<Kept>>;

    /// Makes the environment usable again; returns a description.
    fn reset<'a>(&'a self, bench: Bench<'a>, how: Reset) -> Doing<'a, String>;

    /// Restores the environment to the state in which it was found.
    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()>;
}

/// The operations of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Checks the requirements: see [`Environment::setup`].
    Setup,
    /// Deploys the image: see [`Environment::deploy`].
    Deploy,
    /// Checks that the environment responds: see [`Environment::health_check`].
    HealthCheck,
    /// Runs one start: see [`Environment::run`].
    Run,
    /// Fetches files: see [`Environment::fetch_logs`] and [`Environment::fetch_artifacts`].
    Fetch,
    /// Makes the environment usable again: see [`Environment::reset`].
    Reset,
    /// Restores the environment: see [`Environment::teardown`].
    Teardown,
}

/// The thoroughness of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    /// The smallest reset that may help.
    Reset,
    /// A complete restart: power off and on.
    Restart,
}

/// One start of the firmware or its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The name of a suite or a case, or `all`. Together with `repetition` it names the start's directory.
    pub id: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The arguments of the start.
    pub args: Vec<String>,
    /// The command to run, if the environment runs commands.
    pub command: String,
    /// The environment variables of the start.
    pub environment_vars: BTreeMap<String, String>,
    /// The time limit of the start.
    pub timeout: Duration,
    /// True if executed lines are recorded, in environments that can do that.
    pub coverage: bool,
}

/// The result of one start. Stored as `ran.json` in its directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The start that was run.
    pub start: Start,
    /// The way the start ended.
    pub stop: Stop,
    /// The time from start to end in milliseconds.
    pub duration_ms: u64,
    /// The output files, relative to the start's directory; the one that contains results comes first.
    pub logs: Vec<PathBuf>,
    /// The result files that tests wrote, relative to the start's directory.
    pub reports: Vec<PathBuf>,
    /// Other files, relative to the start's directory.
    pub artifacts: Vec<PathBuf>,
    /// The observed faults, with source locations if known.
    pub faults: Vec<Fault>,
    /// The executed lines by source file, as the debug information names it; empty if coverage was not recorded.
    pub coverage: BTreeMap<String, Vec<u32>>,
}

/// The way one start ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Stop {
    /// The start ended by itself.
    Exited {
        /// The exit code of the start.
        code: i64,
    },
    /// The start was still printing at its time limit.
    TimedOut,
    /// The start made no progress any more.
    Hung {
        /// The place of the hang, as far as it is known.
        place: String,
    },
    /// The firmware booted repeatedly.
    BootLoop {
        /// The number of boots that were observed.
        boots: u32,
    },
    /// The emulator or the connection ended before the start did.
    Lost {
        /// A description of the observation.
        why: String,
    },
}

/// A fault that the firmware, the emulator or a sanitizer reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The line that announces the fault.
    pub banner: String,
    /// The locations as `file:line`, innermost first.
    pub stack: Vec<String>,
    /// Registers and similar values, by name.
    pub registers: BTreeMap<String, String>,
}

/// A fetched file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The name of the file, relative to the fetch directory.
    pub name: String,
    /// The media type, derived from the extension.
    pub media_type: String,
    /// The path of the local copy.
    pub path: PathBuf,
}
