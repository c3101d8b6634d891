//! Transitions and the counters that bound them.

use super::{Block, CounterId, StateId, Template, TransitionId};
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

/// What event names a transition takes, by W3C SCXML's rule: `a.b` matches `a.b` and `a.b.c`, `*` matches everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor(pub String);

impl Descriptor {
    /// Whether an event of this name is taken.
    pub fn matches(&self, event: &str) -> bool {
        let prefix = self.prefix();
        match event.strip_prefix(prefix) {
            Some(rest) => prefix.is_empty() || rest.is_empty() || rest.starts_with('.'),
            None => false,
        }
    }

    /// The descriptor without a trailing `.*` or `.`; empty for `*`.
    pub fn prefix(&self) -> &str {
        let text = self.0.strip_suffix('*').unwrap_or(&self.0);
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
