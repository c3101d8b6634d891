//! Transitions and the counters that bound them.

use super::{Block, CounterId, EventId, StateId, Template, TransitionId};
use crate::{Span, expr::Expr};

/// One transition of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The transition's own index.
    pub id: TransitionId,
    /// The state that has the transition. The root's transitions apply in any state.
    pub source: StateId,
    /// The events that trigger the transition. If empty, the transition is taken as soon as it is enabled.
    pub events: Vec<Descriptor>,
    /// The target states. If empty, no state is exited or entered, and only the actions run.
    pub targets: Vec<StateId>,
    /// True if the transition does not leave its source when its targets are inside it.
    pub internal: bool,
    /// The condition that must be true.
    pub guard: Option<Expr>,
    /// The limits. All their counters must be below their maximum, and taking the transition increments each of them.
    pub limits: Vec<Limit>,
    /// The counters that are reset to 0 when the transition is taken.
    pub resets: Vec<CounterId>,
    /// The actions that run between exit and entry.
    pub actions: Block,
    /// The reason that the trace shows.
    pub reason: Option<Template>,
    /// The position in the file.
    pub span: Span,
}

/// The events that a transition matches.
///
/// A plain name follows the rule of W3C SCXML: `a.b` matches `a.b` and `a.b.c`, `*` matches everything. A qualified
/// name (`tests.passed`, `timeout.tests`) means exactly one event of one state; it was resolved when the file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The text as the file writes it.
    pub text: String,
    /// The event that a qualified name refers to, or `None` for a plain name.
    pub origin: Option<Origin>,
}

/// An event that belongs to one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The state that the event comes from.
    pub state: StateId,
    /// The event of that state.
    pub event: OriginEvent,
}

/// The events that can belong to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginEvent {
    /// `STATE.signal`: one of the state's activities finished with the signal.
    Signal(EventId),
    /// `STATE.error`: one of the state's activities failed, or an expression of the state could not be evaluated.
    Error,
    /// `STATE.error.execution`: an expression of the state could not be evaluated.
    Fault,
    /// `timeout.STATE`: the state's timeout expired.
    Timeout,
}

impl Descriptor {
    /// Creates a descriptor with a plain name.
    pub fn plain(text: impl Into<String>) -> Self {
        Descriptor { text: text.into(), origin: None }
    }

    /// Returns true if the descriptor is compared with event names. This includes `timeout.STATE`, which is also the
    /// name of the event.
    pub fn is_plain(&self) -> bool {
        self.origin.is_none_or(|origin| origin.event == OriginEvent::Timeout)
    }

    /// Returns true if the descriptor matches an event of this name that belongs to no state.
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

    /// Returns the descriptor without a trailing `.*` or `.`; empty for `*`.
    pub fn prefix(&self) -> &str {
        let text = self.text.strip_suffix('*').unwrap_or(&self.text);
        text.strip_suffix('.').unwrap_or(text)
    }
}

/// A bound on the number of times a transition is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The counter that is compared.
    pub counter: CounterId,
    /// The value below which the counter must be.
    pub max: Max,
}

/// The value that a counter must stay below.
#[derive(Clone, Debug, PartialEq)]
pub enum Max {
    /// A number in the file.
    Fixed(u32),
    /// An expression over `input`, with the largest value that the input's schema allows.
    Input {
        /// The expression, evaluated for every run.
        expr: Expr,
        /// The `maximum` of the schema.
        at_most: u32,
    },
}

impl Max {
    /// Returns the largest possible value.
    pub fn at_most(&self) -> u32 {
        match self {
            Max::Fixed(max) => *max,
            Max::Input { at_most, .. } => *at_most,
        }
    }
}

/// A counter. Limits share it by name, or one limit owns it.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The name from the file, or one derived from source, event and position (`testing.failed#1`).
    pub name: String,
    /// The largest maximum of all its limits; the counter never exceeds it.
    pub max: u32,
    /// True if the file names the counter.
    pub named: bool,
    /// The position of its first use.
    pub span: Span,
}
