//! Transitions and the counters that bound them.

use super::{Block, CounterId, EventId, StateId, Template, TransitionId};
use crate::{Span, expr::Expr};

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Its own index.
    pub id: TransitionId,
    /// The state that has it; the root's are "from any state".
    pub source: StateId,
    /// Any of these takes it; an empty list means it is taken as soon as it is enabled.
    pub events: Vec<Descriptor>,
    /// Empty: nothing is exited or entered, only the actions are done.
    pub targets: Vec<StateId>,
    /// Does not leave its source when its targets are inside it.
    pub internal: bool,
    /// Must hold.
    pub guard: Option<Expr>,
    /// All their counters must be below their maximum; taking the transition counts each of them.
    pub limits: Vec<Limit>,
    /// Counters that go back to 0 when it is taken.
    pub resets: Vec<CounterId>,
    /// Done between exit and entry.
    pub actions: Block,
    /// What the trace says.
    pub reason: Option<Template>,
    /// Where it stands.
    pub span: Span,
}

/// The events that a transition takes.
///
/// A plain name follows W3C SCXML's rule: `a.b` matches `a.b` and `a.b.c`, `*` matches everything. A qualified name
/// (`tests.passed`, `timeout.tests`) means exactly one event of one state; it was resolved when the file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// As the file writes it.
    pub text: String,
    /// What a qualified name means; nothing for a plain name.
    pub origin: Option<Origin>,
}

/// An event that belongs to one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The state that it comes from.
    pub state: StateId,
    /// The event.
    pub event: OriginEvent,
}

/// The events that can belong to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginEvent {
    /// `STATE.signal`: one of its activities ended with the signal.
    Signal(EventId),
    /// `STATE.error`: one of its activities failed, or something of it could not be evaluated.
    Error,
    /// `STATE.error.execution`: something of it could not be evaluated.
    Fault,
    /// `timeout.STATE`: its time is up.
    Timeout,
}

impl Descriptor {
    /// A plain name.
    pub fn plain(text: impl Into<String>) -> Self {
        Descriptor { text: text.into(), origin: None }
    }

    /// Whether it is compared with names of events. `timeout.STATE` is: it is also the name of the event.
    pub fn is_plain(&self) -> bool {
        self.origin.is_none_or(|origin| origin.event == OriginEvent::Timeout)
    }

    /// Whether an event of this name is taken where it belongs to no state.
    pub fn matches(&self, event: &str) -> bool {
        if !self.is_plain() {
            return false;
        }
        let prefix = self.prefix();
        match event.strip_prefix(prefix) {
            Some(rest) => prefix.is_empty() || rest.is_empty() || rest.starts_with('.'),
            None => false,
        }
    }

    /// The descriptor without a trailing `.*` or `.`; empty for `*`.
    pub fn prefix(&self) -> &str {
        let text = self.text.strip_suffix('*').unwrap_or(&self.text);
        text.strip_suffix('.').unwrap_or(text)
    }
}

/// A bound on how often a transition is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What counts.
    pub counter: CounterId,
    /// Enabled while the counter is below it.
    pub max: Max,
}

/// The value a counter must stay below.
#[derive(Clone, Debug, PartialEq)]
pub enum Max {
    /// A number in the file.
    Fixed(u32),
    /// An expression over `input`, with the largest value that the input's schema allows.
    Input {
        /// Evaluated for every run.
        expr: Expr,
        /// From the schema's `maximum`.
        at_most: u32,
    },
}

impl Max {
    /// The largest value it can have.
    pub fn at_most(&self) -> u32 {
        match self {
            Max::Fixed(max) => *max,
            Max::Input { at_most, .. } => *at_most,
        }
    }
}

/// A counter: shared by name between limits, or a limit's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Given in the file, or made of source, event and position (`testing.failed#1`).
    pub name: String,
    /// The largest maximum any of its limits has: it never counts further.
    pub max: u32,
    /// Whether the file named it.
    pub named: bool,
    /// Where it is first used.
    pub span: Span,
}
