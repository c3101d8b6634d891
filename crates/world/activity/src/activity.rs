//! The trait that every activity implements.

use std::{path::Path, pin::Pin, sync::Arc};

use interlock_chart::{
    Value,
    model::{EffectClass, Schema},
};
use interlock_journal::EvidenceStore;

use crate::{
    Attempt, Outcome, Requests, RunView, Signal, Site, StandIn, StandInQuestion,
    report::{Account, RecordedRun, RunRecord, Story},
};

/// A boxed future that can be sent between threads.
pub type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// The future result of a running attempt.
pub type Ending = Future<Outcome>;

/// Work outside a machine that a state can start.
pub trait Activity: Send + Sync + 'static {
    /// The name that machines use, such as `command.run`. A name that ends in `.*` is a whole family: `judge.*` serves
    /// `judge`, `judge.plan` and so on.
    fn name(&self) -> &str;

    /// One sentence that describes the activity.
    fn summary(&self) -> &str;

    /// Its effect on the world, if the machine declares none. It decides how a crash during an attempt is handled.
    fn effect(&self) -> EffectClass;

    /// The signals it can end with, each with the data that it carries; empty if it ends with the signals that the machine
    /// declares.
    fn signals(&self) -> &[Signal];

    /// The JSON Schema of the data that machines give it under `with`, in the keywords that
    /// [`Catalogue`](interlock_chart::Catalogue) knows. It refuses nothing that [`start`](Activity::start) accepts.
    fn schema(&self) -> Schema;

    /// Everything that an attempt at this site is about to do and that policy decides on: programs, connections, changes of
    /// protected files. It is stated from the same reading of `with` that [`start`](Activity::start) works with. There is
    /// no default, so that an activity without requests says that it has none. One that only learns during its work what
    /// it needs has none here and asks the gate itself. May read files.
    fn requests(&self, site: &Site<'_>) -> Requests;

    /// Returns true if it only waits for something that is recorded elsewhere. Such an attempt can be stopped at any
    /// moment and started again, as often as needed.
    fn waits(&self) -> bool {
        false
    }

    /// Returns true if an attempt keeps this computer's cores busy, so that the limit on simultaneous attempts counts
    /// it. An attempt that waits for a model, an agent or another computer returns false.
    fn uses_cores(&self) -> bool {
        !self.waits()
    }

    /// Returns true if its attempts also write to the workspace when a machine declares their effect as external, so that
    /// a snapshot is taken before each.
    fn also_writes(&self) -> bool {
        false
    }

    /// Returns true if it serves this activity name in this directory. If it does not, a person answers instead.
    fn takes(&self, _name: &str, _folder: &Path) -> bool {
        true
    }

    /// The reason, shown to a person, why it does not serve a name that [`takes`](Activity::takes) declines.
    fn not_taken_because(&self) -> &str {
        "it is not configured here"
    }

    /// The question to a person who answers for this activity, if the activity can state more than the machine does.
    fn asked(&self, _of: &StandIn<'_>) -> Option<StandInQuestion> {
        None
    }

    /// The errors in a person's answer, beyond those that the machine's schema finds.
    fn misfits(&self, _of: &StandIn<'_>, _signal: &str, _data: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The objections to starting a run that invokes this activity with this input in this directory, beyond the
    /// machine's schema: one sentence per problem. A run with objections is not created.
    fn objections(&self, _input: &Value, _folder: &Path) -> Vec<String> {
        Vec::new()
    }

    /// Called when a run that invokes this activity is about to start, so that slow preparation can happen in parallel.
    /// It may be called again, and is not called if a run is resumed.
    fn get_ready(&self) {}

    /// Called when a run has ended, to release everything held for it. It is not called if the process ends first, so
    /// nothing may depend on it.
    fn run_ended(&self, _run: &str) {}

    /// Returns true if its attempts leave something in the process that later attempts of the run need, such as a kernel.
    /// A process keeps a run that invokes it while the run waits, so that an answer from another process reaches it.
    fn stays_in_process(&self) -> bool {
        false
    }

    /// Called when this process no longer executes a run that has not ended, to release what only this process can use.
    fn run_released(&self, _run: &str) {}

    /// What a report should say about a run whose machine invokes this, beyond what it says about every run. The first activity of a machine that
    /// returns a story tells it.
    fn story(&self, _run: &RecordedRun) -> Option<Story> {
        None
    }

    /// What an ended attempt of this activity did: the commands that it executed, whether they verify the result, and
    /// whose time it took. It reads only what the outcome recorded. `None` if the activity runs nothing and works itself.
    fn account(&self, _record: &RunRecord, _evidence: &EvidenceStore) -> Option<Account> {
        None
    }

    /// A file that shows the runs whose machine invokes this, kept up to date after every record.
    fn view(&self) -> Option<Arc<dyn RunView>> {
        None
    }

    /// Begins. Must not block, and must come to an end soon after it is cancelled. What it
    /// cannot work with it answers with an error of the code `BAD_INPUT`.
    fn start(&self, attempt: Attempt) -> Ending;
}
