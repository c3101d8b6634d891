//! The chart: a machine with every name resolved.
//!
//! Everything is kept in flat lists in document order and referred to by index, because document order is significant
//! in statecharts and because the engine and the checker compute with indices. The invariants of the lists:
//!
//! - `states[0]` is the root. It represents the machine itself and carries its id; its `on` applies in any state.
//! - A state comes after its parent and before its next sibling's subtree; `parent < child` always.
//! - `transitions` are grouped by source in the order of the states, and in file order within a state.
//! - State names are unique within a chart.

mod action;
mod event;
mod ids;
mod property;
mod state;
mod transition;

pub use action::{Action, Block, Part, Template};
pub use event::{Event, Raiser, Schema};
pub use ids::{CounterId, EventId, InvokeId, StateId, TransitionId, VarId};
pub use property::{Observation, ObservedFact, Property, PropertyKind};
pub use state::{EffectClass, GrantRequest, Initial, Invoke, Kind, Outcome, Signal, State};
pub use transition::{Counter, Descriptor, Limit, Max, Origin, OriginEvent, Transition};

use crate::{Span, expr::Type};

/// A statechart with resolved names.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The machine's id, also the root state's name.
    pub id: String,
    /// The version number, chosen by the author.
    pub version: u32,
    /// One sentence that describes the machine.
    pub summary: String,
    /// The rule for expressions that cannot be evaluated.
    pub dialect: Dialect,
    /// The schema of a run's input.
    pub input: Schema,
    /// The run's data, in file order.
    pub context: Vec<Variable>,
    /// Every event that the machine declares, raises or handles by full name, or that an activity signals.
    pub events: Vec<Event>,
    /// Every counter that a limit uses.
    pub counters: Vec<Counter>,
    /// Every state in document order; the first is the root.
    pub states: Vec<State>,
    /// Every transition in document order.
    pub transitions: Vec<Transition>,
    /// Every activity that a state starts.
    pub invokes: Vec<Invoke>,
    /// The machine's properties, which the checker proves.
    pub properties: Vec<Property>,
    /// SHA-256, in hex, of the machine's meaning (not of its file's layout) and of the directory's other files.
    pub hash: String,
}

/// The rule for expressions that cannot be evaluated: the key `semantics` of a machine file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// An expression that fails never decides: the step is not taken, and `error.execution` is handled first.
    #[default]
    Native,
    /// The rule of W3C SCXML, for imported documents: a guard that fails is false, an action that fails is skipped, and
    /// `error.execution` is queued.
    Scxml,
}

/// One variable of the context.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The variable's name, used as `context.NAME`.
    pub name: String,
    /// The initial value, which may refer only to `input`.
    pub initial: Template,
    /// The type, derived from a literal initial value. It is `Dyn` if the value gives no type (`null`, an expression).
    pub ty: Type,
    /// The position of the declaration.
    pub span: Span,
}

impl Chart {
    /// The root state, which is the machine itself.
    pub const ROOT: StateId = StateId(0);

    /// Returns a state by index.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// Returns a transition by index.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// Returns an activity by index.
    pub fn invoke(&self, id: InvokeId) -> &Invoke {
        &self.invokes[id.index()]
    }

    /// Returns an event by index.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// Finds a state by name.
    pub fn find_state(&self, name: &str) -> Option<StateId> {
        self.states.iter().find(|state| state.name == name).map(|state| state.id)
    }

    /// Finds an event by name.
    pub fn find_event(&self, name: &str) -> Option<EventId> {
        self.events.iter().position(|event| event.name == name).map(EventId::at)
    }

    /// Finds a counter by name.
    pub fn find_counter(&self, name: &str) -> Option<CounterId> {
        self.counters.iter().position(|counter| counter.name == name).map(CounterId::at)
    }

    /// Returns the name of the events that a descriptor matches, without the state of a qualified descriptor.
    pub fn plain_name<'a>(&'a self, descriptor: &'a Descriptor) -> &'a str {
        match descriptor.origin.map(|origin| origin.event) {
            Some(OriginEvent::Signal(event)) => &self.event(event).name,
            Some(OriginEvent::Error) => "error",
            Some(OriginEvent::Fault) => "error.execution",
            Some(OriginEvent::Timeout) | None => descriptor.prefix(),
        }
    }

    /// Returns true if one of the states is the other or an ancestor of it. Then each receives the other's events under
    /// their plain names.
    pub fn is_in_line(&self, a: StateId, b: StateId) -> bool {
        a == b || self.is_descendant(a, b) || self.is_descendant(b, a)
    }

    /// Returns true if the hierarchy permits a configuration with both states.
    pub fn can_be_together(&self, a: StateId, b: StateId) -> bool {
        let meeting = self.ancestors(a).find(|ancestor| *ancestor == b || self.is_descendant(b, *ancestor));
        self.is_in_line(a, b) || meeting.is_some_and(|meeting| self.state(meeting).kind == Kind::Parallel)
    }

    /// Returns the state's ancestors, nearest first, the root last.
    pub fn ancestors(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        std::iter::successors(self.state(id).parent, |&parent| self.state(parent).parent)
    }

    /// Returns true if `inner` is a proper descendant of `outer`.
    pub fn is_descendant(&self, inner: StateId, outer: StateId) -> bool {
        self.ancestors(inner).any(|ancestor| ancestor == outer)
    }
}
