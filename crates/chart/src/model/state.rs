//! States and the activities they start.

use super::{Block, EventId, InvokeId, Schema, StateId, Template, TransitionId};
use crate::Span;

/// One state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its own index.
    pub id: StateId,
    /// Unique within the chart.
    pub name: String,
    /// One sentence on what happens here.
    pub summary: String,
    /// Nothing for the root alone.
    pub parent: Option<StateId>,
    /// What kind of state it is.
    pub kind: Kind,
    /// In document order, history states included.
    pub children: Vec<StateId>,
    /// Where a compound state begins; for a history state, where it leads when there is nothing to remember.
    pub initial: Option<Initial>,
    /// Done on entry. Usually one block; SCXML allows several, each failing on its own.
    pub entry: Vec<Block>,
    /// Done on exit.
    pub exit: Vec<Block>,
    /// Activities started on entry and cancelled on exit.
    pub invokes: Vec<InvokeId>,
    /// After this long in the state, `timeout.NAME` is raised. Already resolved: the machine's own `timeout` is the default
    /// of every state that starts an activity.
    pub timeout_ms: Option<u64>,
    /// Whether `timeout_ms` came from the machine and not from this state.
    pub timeout_inherited: bool,
    /// Its own transitions, in document order.
    pub transitions: Vec<TransitionId>,
    /// How a run that ends here ended; only on final children of the root.
    pub outcome: Option<Outcome>,
    /// Words to find states by. `idle` marks a place where a run may rest for ever.
    pub tags: Vec<String>,
    /// What the `done` event of the parent carries, on a final state.
    pub data: Option<Template>,
    /// Where its name stands.
    pub span: Span,
}

/// What kind of state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No children.
    Atomic,
    /// Exactly one child is active.
    Compound,
    /// All children are active.
    Parallel,
    /// The parent is done.
    Final,
    /// Remembers which children of its parent were active.
    ShallowHistory,
    /// Remembers which descendants of its parent were active.
    DeepHistory,
}

impl Kind {
    /// Whether it only remembers and is never active itself.
    pub fn is_history(self) -> bool {
        matches!(self, Kind::ShallowHistory | Kind::DeepHistory)
    }

    /// Whether it has no children to be active (final states included).
    pub fn is_atomic(self) -> bool {
        matches!(self, Kind::Atomic | Kind::Final)
    }

    /// The word `describe` uses.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Atomic => "atomic",
            Kind::Compound => "compound",
            Kind::Parallel => "parallel",
            Kind::Final => "final",
            Kind::ShallowHistory => "history",
            Kind::DeepHistory => "deep-history",
        }
    }
}

/// An initial transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// Descendants; several where parallel regions begin deeper.
    pub targets: Vec<StateId>,
    /// Done after the parent's entry and before the target's.
    pub actions: Block,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It did what it was asked.
    Success,
    /// It did not.
    Failure,
    /// It was told to stop.
    Aborted,
}

impl Outcome {
    /// The word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Failure => "failure",
            Outcome::Aborted => "aborted",
        }
    }
}

/// An activity started by a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoke {
    /// Its own index.
    pub id: InvokeId,
    /// The state that starts it.
    pub state: StateId,
    /// Its registered name: `command.run`, `judge`, `agent.prompt`.
    pub activity: String,
    /// What it is given: a map.
    pub with: Template,
    /// How it may end, besides `error` and `timeout`.
    pub signals: Vec<Signal>,
    /// What it may do to the world, where the file says so.
    pub effect: Option<Effect>,
    /// Whether a person reports its result if it is not installed.
    pub manual: bool,
    /// The places of the keys of `with`, in file order. They are no part of what the machine means.
    pub keys: Vec<(String, Span)>,
    /// Where it stands.
    pub span: Span,
}

impl Invoke {
    /// The place of a key of `with`, or else of the activity's name.
    pub fn key_span(&self, key: &str) -> Span {
        self.keys.iter().find(|(name, _)| name == key).map_or(self.span, |(_, span)| *span)
    }

    /// Whether a model is asked: `judge` and `judge.*` count as judgements in a bound.
    pub fn is_judgement(&self) -> bool {
        self.activity == "judge" || self.activity.starts_with("judge.")
    }
}

/// One way an activity may end.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The event it raises.
    pub event: EventId,
    /// What that event then carries.
    pub data: Schema,
}

/// What an activity may do, which decides what a crash in the middle of it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nothing, or the same however often it is done.
    Read,
    /// Changes the workspace, which can be restored.
    Write,
    /// Changes something outside, which cannot.
    External,
}

impl Effect {
    /// The word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::External => "external",
        }
    }
}
