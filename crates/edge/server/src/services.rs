//! The services that the program supplies to the server, because they need every crate: machines are checked against
//! all activities, and a report is made from what activities add to it.

use std::path::{Path, PathBuf};

use interlock_journal::{By, Head};
use interlock_runtime::{Offer, Start};
use serde_json::Value as Json;

use crate::problem::Result;

/// A run that a caller wants to start.
#[derive(Clone, Debug)]
pub struct WantedRun {
    /// The name of the machine.
    pub machine: String,
    /// The input of the run.
    pub input: Json,
    /// The directory in which the run works. The server has checked that runs may start there.
    pub folder: PathBuf,
    /// The name of the run; without one, a name is made.
    pub name: Option<String>,
    /// The coding agent that the run prompts, if the caller chose one.
    pub agent: Option<String>,
    /// The person or program that starts it.
    pub by: By,
}

/// Services of the program. All of them may block.
pub trait Services: Send + Sync + 'static {
    /// Lists the machines that can be started in a directory: name, version, summary, origin.
    fn machines(&self, folder: &Path) -> Vec<Json>;

    /// Proves a machine, and returns the result as `interlock check --json` prints it.
    fn check(&self, machine: &str, folder: &Path) -> Result<Json>;

    /// Makes a new run ready to start: reads its machine, and checks its input and settings.
    fn prepare(&self, wanted: WantedRun) -> Result<Start>;

    /// Is called if a run that was made ready could not be started: what was made for it is removed.
    fn not_started(&self, run: &str);

    /// Returns the events that continue a run that has ended; none if it has not ended, is continued already, or cannot be.
    fn continuing(&self, run: &Head) -> Result<Vec<Offer>>;

    /// Returns the run that takes an event to a run that has ended, and makes it if this event was not sent before. `None`
    /// if the event does not continue the run.
    fn continue_run(&self, run: &Head, event: &str, id: &str, by: By) -> Result<Option<Head>>;

    /// Is called before a run that shares the first records of another is stored.
    fn forks(&self, from: &Head, run: &str) -> Result<()>;

    /// Makes the report of a run as an HTML page.
    fn report(&self, run: &Head) -> Result<String>;

    /// Returns the first sentence and the sections of the report of a run. The answer has a bound.
    fn report_sections(&self, run: &Head) -> Result<Json>;

    /// Lists the configured coding agents.
    fn agents(&self, folder: &Path) -> Result<Json>;

    /// Lists the configured judges.
    fn judges(&self, folder: &Path) -> Result<Json>;

    /// Lists shared resources, with the runs that hold them and wait for them.
    fn resources(&self) -> Result<Json>;

    /// Is called after writes of a run were undone.
    fn undone(&self, run: &Head);
}
