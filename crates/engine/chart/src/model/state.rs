//! States and the activities they start.

use super::{Block, EventId, InvokeId, Schema, StateId, Template, TransitionId};
use crate::Span;

/// One state of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The state's own index.
    pub id: StateId,
    /// The name, unique within the chart.
    pub name: String,
    /// One sentence that describes the state.
    pub summary: String,
    /// The parent state; `None` only for the root.
    pub parent: Option<StateId>,
    /// The kind of state.
    pub kind: Kind,
    /// The children in document order, including history states.
    pub children: Vec<StateId>,
    /// The initial transition of a compound state. For a history state, the default transition if there is nothing to
    /// restore.
    pub initial: Option<Initial>,
    /// The blocks that run on entry. Usually there is one; SCXML allows several, which fail independently.
    pub entry: Vec<Block>,
    /// The blocks that run on exit.
    pub exit: Vec<Block>,
    /// Activities that are started on entry and cancelled on exit.
    pub invokes: Vec<InvokeId>,
    /// The time in the state after which `timeout.NAME` is raised. The default is already applied: the machine's own
    /// `timeout` is the default of every state that starts an activity.
    pub timeout_ms: Option<u64>,
    /// True if `timeout_ms` came from the machine and not from this state.
    pub timeout_inherited: bool,
    /// The state's own transitions, in document order.
    pub transitions: Vec<TransitionId>,
    /// The outcome of a run that ends here; only on final children of the root.
    pub outcome: Option<Outcome>,
    /// Tags for finding states. `idle` marks a state in which a run may stay for ever.
    pub tags: Vec<String>,
    /// On a final state, the data of the parent's `done` event.
    pub data: Option<Template>,
    /// The data that a person sees while the state waits for them, each with its label, in file order.
    pub shows: Vec<(String, Template)>,
    /// The permissions that a person can grant while the state waits for them.
    pub grants: Option<GrantRequest>,
    /// The place of its name.
    pub span: Span,
}

/// Permissions that a person is asked to grant.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRequest {
    /// The scopes: a list of texts such as `fs.write:infra/main.tf`.
    pub scopes: Template,
    /// The event that is sent once all of them are granted.
    pub event: String,
    /// The place of the event's name.
    pub span: Span,
}

/// The kind of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The state has no children.
    Atomic,
    /// Exactly one child is active.
    Compound,
    /// All children are active.
    Parallel,
    /// Entering the state completes its parent.
    Final,
    /// Remembers which children of its parent were active.
    ShallowHistory,
    /// Remembers which descendants of its parent were active.
    DeepHistory,
}

impl Kind {
    /// Returns true for history states, which are never active themselves.
    pub fn is_history(self) -> bool {
        matches!(self, Kind::ShallowHistory | Kind::DeepHistory)
    }

    /// Returns true if the state has no children that can be active (final states included).
    pub fn is_atomic(self) -> bool {
        matches!(self, Kind::Atomic | Kind::Final)
    }

    /// Returns the kind as a word for `describe`.
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

/// The initial transition of a compound state, or the default transition of a history state.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The target descendants. There are several if parallel regions begin at deeper states.
    pub targets: Vec<StateId>,
    /// Actions that run after the parent's entry and before the target's.
    pub actions: Block,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The run achieved its goal.
    Success,
    /// The run has a result, but something that was to be shown about it was not.
    Incomplete,
    /// The run did not achieve its goal.
    Failure,
    /// The run was stopped on request.
    Aborted,
}

impl Outcome {
    /// Returns the outcome as a machine file writes it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Incomplete => "incomplete",
            Outcome::Failure => "failure",
            Outcome::Aborted => "aborted",
        }
    }
}

/// An activity that a state starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoke {
    /// The activity's own index.
    pub id: InvokeId,
    /// The state that starts the activity.
    pub state: StateId,
    /// The registered name: `command.run`, `judge`, `agent.prompt`.
    pub activity: String,
    /// The activity's arguments: a map.
    pub with: Template,
    /// The signals with which the activity may finish, besides `error` and `timeout`.
    pub signals: Vec<Signal>,
    /// The activity's effect on the world, if the file declares it.
    pub effect: Option<EffectClass>,
    /// True if a person reports its result when it is not installed.
    pub manual: bool,
    /// The positions of the keys of `with`, in file order. They are not part of the machine's meaning.
    pub keys: Vec<(String, Span)>,
    /// The position of the activity's name.
    pub span: Span,
}

impl Invoke {
    /// Returns the position of a key of `with`, or else of the activity's name.
    pub fn key_span(&self, key: &str) -> Span {
        self.keys.iter().find(|(name, _)| name == key).map_or(self.span, |(_, span)| *span)
    }

    /// Returns true if the activity asks a model: `judge` and `judge.*` count as judgements in a bound.
    pub fn is_judgement(&self) -> bool {
        self.activity == "judge" || self.activity.starts_with("judge.")
    }
}

/// One signal with which an activity may finish.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The event that the signal raises.
    pub event: EventId,
    /// The schema of the event's data.
    pub data: Schema,
}

/// The effect of an activity, which decides how a crash during it is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectClass {
    /// No effect, or the same effect however often it runs.
    Read,
    /// Changes the workspace, which can be restored.
    Write,
    /// Changes something outside the workspace, which cannot be restored.
    External,
}

impl EffectClass {
    /// Returns the effect as a machine file writes it.
    pub fn word(self) -> &'static str {
        match self {
            EffectClass::Read => "read",
            EffectClass::Write => "write",
            EffectClass::External => "external",
        }
    }
}
