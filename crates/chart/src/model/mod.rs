//! The chart: a machine with every name resolved.
//!
//! Everything is kept in flat lists in document order and referred to by index, because document order decides in
//! statecharts and because indices are what the engine and the checker compute with. The lists' invariants:
//!
//! - `states[0]` is the root. It stands for the machine itself and carries its id; its `on` is "from any state".
//! - A state stands after its parent and before its next sibling's subtree; `parent < child` always.
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
pub use property::{Observation, Property, PropertyKind, Seen};
pub use state::{Effect, Initial, Invoke, Kind, Outcome, Signal, State};
pub use transition::{Counter, Descriptor, Limit, Max, Origin, OriginEvent, Transition};

use crate::{Span, expr::Type};

/// A statechart, resolved.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The machine's id, also the root state's name.
    pub id: String,
    /// The version its author gave it.
    pub version: u32,
    /// One sentence on what it does.
    pub summary: String,
    /// What a run must be given.
    pub input: Schema,
    /// The run's data, in file order.
    pub context: Vec<Variable>,
    /// Every event the machine declares, raises, handles by full name, or is signalled by an activity.
    pub events: Vec<Event>,
    /// Every counter that a limit counts with.
    pub counters: Vec<Counter>,
    /// Every state in document order; the first is the root.
    pub states: Vec<State>,
    /// Every transition in document order.
    pub transitions: Vec<Transition>,
    /// Every activity that a state starts.
    pub invokes: Vec<Invoke>,
    /// What the machine promises, to be proved by the checker.
    pub properties: Vec<Property>,
    /// SHA-256, in hex, of what the machine means (not of how its file is laid out) and of the folder's other files.
    pub hash: String,
}

/// One variable of the context.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Read as `context.NAME`.
    pub name: String,
    /// Its value at the start; may refer to `input` alone.
    pub initial: Template,
    /// Taken from a literal initial value; `Dyn` where that says nothing (`null`, an expression).
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
}

impl Chart {
    /// The root state: the machine itself.
    pub const ROOT: StateId = StateId(0);

    /// A state by index.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// A transition by index.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// An activity by index.
    pub fn invoke(&self, id: InvokeId) -> &Invoke {
        &self.invokes[id.index()]
    }

    /// An event by index.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// A state by name.
    pub fn find_state(&self, name: &str) -> Option<StateId> {
        self.states.iter().find(|state| state.name == name).map(|state| state.id)
    }

    /// An event by name.
    pub fn find_event(&self, name: &str) -> Option<EventId> {
        self.events.iter().position(|event| event.name == name).map(EventId::at)
    }

    /// A counter by name.
    pub fn find_counter(&self, name: &str) -> Option<CounterId> {
        self.counters.iter().position(|counter| counter.name == name).map(CounterId::at)
    }

    /// The name of the events that a descriptor takes, without the state that a qualified one names.
    pub fn plain_name<'a>(&'a self, descriptor: &'a Descriptor) -> &'a str {
        match descriptor.origin.map(|origin| origin.event) {
            Some(OriginEvent::Signal(event)) => &self.event(event).name,
            Some(OriginEvent::Error) => "error",
            Some(OriginEvent::Fault) => "error.execution",
            Some(OriginEvent::Timeout) | None => descriptor.prefix(),
        }
    }

    /// Whether one of the states is the other or inside it: an event of the one is heard by the other under its plain name.
    pub fn is_in_line(&self, a: StateId, b: StateId) -> bool {
        a == b || self.is_descendant(a, b) || self.is_descendant(b, a)
    }

    /// Whether there is a configuration that has both states, as far as the hierarchy goes.
    pub fn can_be_together(&self, a: StateId, b: StateId) -> bool {
        let meeting = self.ancestors(a).find(|ancestor| *ancestor == b || self.is_descendant(b, *ancestor));
        self.is_in_line(a, b) || meeting.is_some_and(|meeting| self.state(meeting).kind == Kind::Parallel)
    }

    /// The state's ancestors, nearest first, the root last.
    pub fn ancestors(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        std::iter::successors(self.state(id).parent, |&parent| self.state(parent).parent)
    }

    /// Whether `inner` is a proper descendant of `outer`.
    pub fn is_descendant(&self, inner: StateId, outer: StateId) -> bool {
        self.ancestors(inner).any(|ancestor| ancestor == outer)
    }
}
