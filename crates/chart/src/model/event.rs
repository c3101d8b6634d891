//! Events: their names, who may raise them, and what they carry.

use crate::Span;

/// A JSON Schema, kept as it was written; `true` accepts anything.
pub type Schema = serde_json::Value;

/// One event name of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Dots separate tokens; a descriptor `a` matches `a` and `a.b`.
    pub name: String,
    /// Who may raise it.
    pub from: Raiser,
    /// What it means, for the button a person sees.
    pub summary: String,
    /// What it carries: a JSON Schema of an object.
    pub data: Schema,
    /// Whether the file declares it under `events` (the rest are found by use).
    pub declared: bool,
    /// Where it is declared or first used.
    pub span: Span,
}

/// Who may raise an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Raiser {
    /// A person: it is a button.
    User,
    /// An activity, as one of its signals.
    Activity,
    /// A timer.
    Timer,
    /// Another run.
    Run,
    /// The machine itself (`raise`, `done`, `error`).
    Machine,
    /// Anybody. What an imported chart's events are.
    Any,
}

impl Raiser {
    /// The word in the file.
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

    /// The raiser a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::User, Self::Activity, Self::Timer, Self::Run, Self::Machine, Self::Any]
            .into_iter()
            .find(|raiser| raiser.word() == word)
    }
}
