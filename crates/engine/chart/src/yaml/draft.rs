//! A machine file with a checked shape and unresolved names: the step between the tree and the chart.
//!
//! Drafts borrow from the tree, so every name keeps its position.

use super::{
    fields::Fields,
    node::{Entry, Node, Scalar},
};
use crate::{
    Span,
    model::{Dialect, EffectClass, Outcome, Raiser},
};

/// The draft of a machine.
pub(crate) struct Machine<'n> {
    pub version: u32,
    pub dialect: Dialect,
    pub input: Option<&'n Node>,
    pub context: &'n [Entry],
    pub events: Vec<Event<'n>>,
    pub timeout_ms: Option<u64>,
    pub root: State<'n>,
    pub properties: Vec<Property<'n>>,
}

/// The draft of a declared event.
pub(crate) struct Event<'n> {
    pub name: &'n Scalar,
    pub from: Raiser,
    pub summary: String,
    pub data: Option<&'n Node>,
    pub irreversible: bool,
    pub continues: bool,
}

/// The value of the key `type`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Final,
    Parallel,
    History,
}

/// The timeout setting of a state.
#[derive(Clone, Copy)]
pub(crate) enum Timeout {
    Inherit,
    Never,
    Ms(u64),
}

/// The draft of a state, or of the machine itself as the root.
pub(crate) struct State<'n> {
    pub name: String,
    /// The position of its name.
    pub span: Span,
    /// The keys, used to report a misplaced one.
    pub fields: Option<Fields<'n>>,
    pub summary: String,
    pub ty: Option<Type>,
    pub deep: bool,
    /// The default targets of a history state.
    pub target: Vec<&'n Scalar>,
    pub initial: Option<Initial<'n>>,
    pub entry: Vec<Vec<Action<'n>>>,
    pub exit: Vec<Vec<Action<'n>>>,
    pub invokes: Vec<Invoke<'n>>,
    pub timeout: Timeout,
    pub transitions: Vec<Transition<'n>>,
    pub outcome: Option<Outcome>,
    pub data: Option<&'n Node>,
    pub tags: Vec<String>,
    pub shows: &'n [Entry],
    pub grants: Option<GrantRequest<'n>>,
    pub states: Vec<State<'n>>,
}

/// Permissions that a person is asked to grant.
pub(crate) struct GrantRequest<'n> {
    pub scopes: &'n Node,
    pub event: &'n Scalar,
}

/// The initial states of a compound state.
pub(crate) struct Initial<'n> {
    pub targets: Vec<&'n Scalar>,
    pub actions: Vec<Action<'n>>,
}

/// The draft of an activity.
pub(crate) struct Invoke<'n> {
    pub span: Span,
    pub activity: String,
    pub with: &'n [Entry],
    pub signals: Vec<(&'n Scalar, Option<&'n Node>)>,
    pub effect: Option<EffectClass>,
    pub manual: bool,
}

/// An event descriptor and its position.
#[derive(Clone)]
pub(crate) struct Word {
    pub text: String,
    pub span: Span,
}

/// The draft of a transition.
pub(crate) struct Transition<'n> {
    pub span: Span,
    /// The event descriptors; empty if the transition is eventless.
    pub events: Vec<Word>,
    pub targets: Vec<&'n Scalar>,
    pub guard: Option<&'n Scalar>,
    pub limits: Vec<Limit<'n>>,
    pub resets: Vec<&'n Scalar>,
    pub actions: Vec<Action<'n>>,
    pub reason: Option<&'n Node>,
    pub internal: bool,
}

/// The draft of a limit.
pub(crate) struct Limit<'n> {
    pub span: Span,
    pub counter: Option<&'n Scalar>,
    pub max: Max<'n>,
}

/// The value that a counter must stay below.
pub(crate) enum Max<'n> {
    Fixed(u32),
    Input(&'n Scalar),
    /// The value is invalid, and a problem was already reported.
    Broken,
}

/// The draft of an action.
pub(crate) enum Action<'n> {
    Assign(&'n Scalar, &'n Node),
    Raise(&'n Scalar, Option<&'n Node>),
    Send { event: &'n Node, data: Option<&'n Node>, delay: Option<&'n Node>, id: Option<String> },
    Cancel(&'n Node),
    Log(&'n Node),
    If(Vec<(Option<&'n Scalar>, Vec<Action<'n>>)>),
}

/// The draft of a property, by the keys it has.
pub(crate) struct Property<'n> {
    pub span: Span,
    pub terminates: Option<bool>,
    pub never: Option<Vec<&'n Scalar>>,
    pub without: Option<Vec<&'n Scalar>>,
    pub since: Option<Vec<&'n Scalar>>,
    pub possible: Option<Vec<&'n Scalar>>,
    pub after: Option<Vec<&'n Scalar>>,
    pub leads_to: Option<Vec<&'n Scalar>>,
    pub at_most: Option<u32>,
    pub of: Option<Vec<&'n Scalar>>,
    pub because: String,
}
