//! The contract of every environment in which firmware runs.

use std::{
    path::{Path, PathBuf},
    pin::Pin,
};

use interlock_activity::{Attempt, EffectClass};
use interlock_process::Sandbox;
use serde::{Deserialize, Serialize};

use crate::{Ran, Session, Start, Trouble};

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
    fn effect(&self, operation: Operation) -> EffectClass;

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
    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>>;

    /// Fetches the other files into the session's `artifacts` directory.
    fn fetch_artifacts<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>>;

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

/// A file that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedFile {
    /// The name of the file, relative to the fetch directory.
    pub name: String,
    /// The media type, derived from the extension.
    pub media_type: String,
    /// The path of the local copy.
    pub path: PathBuf,
}
