//! What an activity is.

use std::{path::Path, pin::Pin};

use interlock_chart::{
    Value,
    model::{Effect, Schema},
};

use crate::{Asked, Attempt, Outcome, StandIn};

/// Something that will be there later.
pub type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// An attempt under way.
pub type Ending = Future<Outcome>;

/// Something that can be done outside a machine.
pub trait Activity: Send + Sync + 'static {
    /// What machines call it: `command.run`. One that ends in `.*` is a whole family: `judge.*` is `judge`, `judge.plan` and so on.
    fn name(&self) -> &str;

    /// One sentence on what it does.
    fn summary(&self) -> &str;

    /// What it may do to the world, where the machine does not say. It decides what a crash in the middle of it means.
    fn effect(&self) -> Effect;

    /// The signals it can end with; empty where the machine's own choice is handed through.
    fn signals(&self) -> &[&str];

    /// The JSON Schema of what machines give it under `with`, in the keywords that [`Catalogue`](interlock_chart::Catalogue) knows. It
    /// refuses nothing that [`start`](Activity::start) takes.
    fn schema(&self) -> Schema;

    /// Whether it does nothing but wait for something that is recorded elsewhere. Then it can be left at any moment and taken
    /// up again, as often as need be.
    fn waits(&self) -> bool {
        false
    }

    /// Whether it does what a machine calls by this name in this folder. Where it does not, a person stands in for it.
    fn takes(&self, _name: &str, _folder: &Path) -> bool {
        true
    }

    /// What a person is asked who stands in for it, where it can say more of that than the machine does.
    fn asked(&self, _of: &StandIn<'_>) -> Option<Asked> {
        None
    }

    /// What is wrong with what a person answers in its place, beyond what the machine declares.
    fn misfits(&self, _of: &StandIn<'_>, _signal: &str, _data: &Value) -> Vec<String> {
        Vec::new()
    }

    /// What speaks against starting a run that invokes this with this input in this folder, beyond what the machine's schema says: every problem
    /// in a sentence. A run with problems is not created.
    fn objections(&self, _input: &Value, _folder: &Path) -> Vec<String> {
        Vec::new()
    }

    /// A run that invokes this is about to be started: what takes long the first time can be done now, while other things are under way. It
    /// may be called again, and not at all where a run is taken up.
    fn get_ready(&self) {}

    /// A run has ended: whatever is held for it is let go. Not called where the process ends first, so nothing may depend on it.
    fn run_ended(&self, _run: &str) {}

    /// Begins. Must not block, and must come to an end soon after it is cancelled. What it
    /// cannot work with it answers with an error of the code `BAD_INPUT`.
    fn start(&self, attempt: Attempt) -> Ending;
}
