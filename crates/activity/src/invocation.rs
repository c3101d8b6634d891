//! What a machine says where it invokes an activity: the same for every attempt, so it is made once.

use std::sync::Arc;

use interlock_chart::model::Schema;
use interlock_journal::Definition;

/// What a machine says where it invokes an activity.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The activity's name in the machine: one activity may serve several.
    pub name: String,
    /// The state that starts it.
    pub state: String,
    /// The signals the machine takes from it.
    pub signals: Vec<Taken>,
    /// The machine's files, as the run keeps them.
    pub definition: Arc<Definition>,
}

/// A signal that a machine takes from an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Its name.
    pub name: String,
    /// What its data must fit.
    pub data: Schema,
}

impl Invocation {
    /// Whether the machine takes a signal of this name.
    pub fn takes(&self, signal: &str) -> bool {
        self.signals.iter().any(|taken| taken.name == signal)
    }

    /// The names of the signals the machine takes.
    pub fn signal_names(&self) -> impl Iterator<Item = &str> {
        self.signals.iter().map(|taken| taken.name.as_str())
    }
}
