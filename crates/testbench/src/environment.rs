//! The contract of every place where firmware runs.

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

/// Something under way in an environment.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'a>>;

/// What every operation is given.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// Who asks: whom to tell how far it is, and when to stop.
    pub attempt: &'a Attempt,
    /// Where everything is kept.
    pub session: &'a Session,
    /// How programs are confined.
    pub sandbox: &'a Sandbox,
}

/// A kind of place where firmware runs. Nothing lives on from one operation to the next but what is in the session's folder (and, on a board,
/// the board). Every operation ends soon after its attempt is cancelled, and leaves no process behind.
pub trait Environment: Send + Sync {
    /// What an operation may do to the world.
    fn effect(&self, operation: Operation) -> Effect;

    /// Things that one run at a time may use; it needs one of them. Nothing where it shares nothing.
    fn resources(&self) -> Vec<String> {
        Vec::new()
    }

    /// Looks whether all it takes is there. `bench.session.resource` is the thing that was taken hold of.
    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()>;

    /// Brings the session's image there.
    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()>;

    /// Whether it lives: what was seen, in words.
    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String>;

    /// Starts the firmware or its tests once and waits for the end. What fails, crashes, hangs or takes too long is no error: it is how it ended.
    /// `folder` is this start's own within the session; logs and artifacts go there.
    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran>;

    /// Fetches logs that did not come in while it ran, into the session's `logs` folder.
    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<Kept>>;

    /// Fetches what else there is, into the session's `artifacts` folder.
    fn fetch_artifacts<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<Kept>>;

    /// Makes it usable again.
    fn reset<'a>(&'a self, bench: Bench<'a>, how: Reset) -> Doing<'a, String>;

    /// Leaves it as it was found.
    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()>;
}

/// What an environment can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// [`Environment::setup`].
    Setup,
    /// [`Environment::deploy`].
    Deploy,
    /// [`Environment::health_check`].
    HealthCheck,
    /// [`Environment::run`].
    Run,
    /// [`Environment::fetch_logs`] and [`Environment::fetch_artifacts`].
    Fetch,
    /// [`Environment::reset`].
    Reset,
    /// [`Environment::teardown`].
    Teardown,
}

/// How thoroughly to reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reset {
    /// The least that may help.
    Reset,
    /// From nothing: power off and on.
    Restart,
}

/// One start of the firmware or its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// What is started: a suite, a case, or `all`. Together with `repetition` the name of its folder.
    pub id: String,
    /// The how-manieth time, from 1.
    pub repetition: u32,
    /// What it is told.
    pub args: Vec<String>,
    /// What it is run by, where the environment runs commands.
    pub command: String,
    /// Variables it sees.
    pub environment_vars: BTreeMap<String, String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether to find out which lines are executed, where that can be found out.
    pub coverage: bool,
}

/// How one start went. Kept as `ran.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// What was started.
    pub start: Start,
    /// How it ended.
    pub stop: Stop,
    /// How long it took.
    pub duration_ms: u64,
    /// The files with what was printed, within the start's folder; what results are read from comes first.
    pub logs: Vec<PathBuf>,
    /// Files that tests wrote their results into, within the start's folder.
    pub reports: Vec<PathBuf>,
    /// What else there is, within the start's folder.
    pub artifacts: Vec<PathBuf>,
    /// Faults that were seen, with the place in the source where it could be told.
    pub faults: Vec<Fault>,
    /// Lines that were executed, by file as the debug information names it; empty where nobody looked.
    pub coverage: BTreeMap<String, Vec<u32>>,
}

/// How one start ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Stop {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i64,
    },
    /// It was still printing when its time was up.
    TimedOut,
    /// It had stopped doing anything.
    Hung {
        /// Where, as far as it could be told.
        place: String,
    },
    /// It started over and over.
    BootLoop {
        /// How often it was seen to start.
        boots: u32,
    },
    /// The emulator or the connection ended in the middle.
    Lost {
        /// What was seen.
        why: String,
    },
}

/// A fault that the firmware, the emulator or a sanitiser reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The line that says so.
    pub banner: String,
    /// Where, as `file:line`, innermost first.
    pub stack: Vec<String>,
    /// Registers and the like, by name.
    pub registers: BTreeMap<String, String>,
}

/// A file that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What it is.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Where it is.
    pub path: PathBuf,
}
