//! The machine's declaration of an invocation: the same for every attempt, so it is built once.

use std::sync::Arc;

use interlock_chart::model::Schema;
use interlock_journal::Definition;

/// The machine's declaration of an invocation.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The activity's name in the machine; one activity may serve several names.
    pub name: String,
    /// The state that starts it.
    pub state: String,
    /// The signals that the machine handles.
    pub signals: Vec<HandledSignal>,
    /// True if the machine declares that this changes nothing, whatever the activity does otherwise.
    pub is_declared_read: bool,
    /// The machine's files, as recorded for the run.
    pub definition: Arc<Definition>,
}

/// A signal that a machine handles from an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct HandledSignal {
    /// The name of the signal.
    pub name: String,
    /// The schema that its data must fit.
    pub data: Schema,
}

impl Invocation {
    /// Returns true if the machine handles a signal of this name.
    pub fn takes(&self, signal: &str) -> bool {
        self.signals.iter().any(|taken| taken.name == signal)
    }

    /// The names of the signals that the machine handles.
    pub fn signal_names(&self) -> impl Iterator<Item = &str> {
        self.signals.iter().map(|taken| taken.name.as_str())
    }
}
