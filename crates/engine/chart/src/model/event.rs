//! Events: their names, their sources, and their data.

use crate::Span;

/// A JSON Schema as it was written; `true` accepts anything.
pub type Schema = serde_json::Value;

/// One event name of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The event's name. Dots separate tokens; a descriptor `a` matches `a` and `a.b`.
    pub name: String,
    /// The source that may raise the event.
    pub from: Raiser,
    /// The event's meaning, shown on its button.
    pub summary: String,
    /// A JSON Schema of the event's data, which is an object.
    pub data: Schema,
    /// True if its author declares that its consequences cannot be undone.
    pub irreversible: bool,
    /// Whether it continues a run that has ended: a new run takes it in the state before the end.
    pub continues: bool,
    /// Whether the file declares it under `events` (the rest are found by use).
    pub declared: bool,
    /// The position of its declaration or first use.
    pub span: Span,
}

/// The source that may raise an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Raiser {
    /// A person, who sees the event as a button.
    User,
    /// An activity, as one of its signals.
    Activity,
    /// A timer of the machine.
    Timer,
    /// Another run of any machine.
    Run,
    /// The machine itself (`raise`, `done`, `error`).
    Machine,
    /// Any source. Events of imported charts have this value.
    Any,
}

impl Raiser {
    /// Returns the source as a machine file writes it.
    pub fn word(self) -> &'static str {
        match self {
            Raiser::User => "user",
            Raiser::Activity => "activity",
            Raiser::Timer => "timer",
            Raiser::Run => "run",
            Raiser::Machine => "machine",
            Raiser::Any => "any",
        }
    }

    /// Returns the source that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::User, Self::Activity, Self::Timer, Self::Run, Self::Machine, Self::Any]
            .into_iter()
            .find(|raiser| raiser.word() == word)
    }
}
