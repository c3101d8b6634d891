//! A machine ready to run: a chart with everything precomputed that does not change from step to step.
//!
//! Event names become numbers, expressions become [`Formula`]s with lowered code, and each state has its parent and the
//! set of its descendants. Nothing here depends on a run.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use interlock_chart::{
    Chart, Value,
    model::{Action, CounterId, Descriptor, EventId, Kind, Max, StateId, Template, TransitionId, VarId},
};

use rustc_hash::FxBuildHasher;

use crate::{StateSet, eval::Code};

/// Identifies a formula of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormulaId(pub u32);

impl FormulaId {
    /// The position in [`Machine::formulas`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expression or a template of the chart, with the code it was lowered to.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The template as the chart has it.
    pub template: Template,
    /// The code that the engine evaluates.
    pub(crate) code: Code,
}

/// The properties of a transition that the engine needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The state it starts from.
    pub source: StateId,
    /// The states it leads to.
    pub targets: Vec<StateId>,
    /// The guard, if it has one.
    pub guard: Option<FormulaId>,
    /// Counters, the largest value that each limit can have, and the expression of the limit if it is not fixed.
    pub limits: Vec<(CounterId, u32, Option<FormulaId>)>,
    /// Counters that are reset to 0.
    pub resets: Vec<CounterId>,
    /// The actions of the transition.
    pub operations: Vec<Operation>,
    /// The template of its reason.
    pub reason: Option<FormulaId>,
    /// True if its reason or one of its actions may fail.
    pub(crate) may_fault: bool,
    /// The state whose active descendants are left; `None` if it depends on a history state or there is no target.
    pub(crate) domain: Option<StateId>,
    /// The states to enter, if all targets are atomic and plain and the path to them is always the same.
    pub(crate) entry: Option<Vec<StateId>>,
}

/// An action with its names resolved.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Operation {
    Assign { var: VarId, value: FormulaId },
    Raise { event: EventId, data: FormulaId },
    Send { event: FormulaId, data: FormulaId, delay: Option<FormulaId>, id: Option<Arc<str>> },
    Cancel { id: FormulaId },
    Log { text: FormulaId },
    If { branches: Vec<(Option<FormulaId>, Vec<Operation>)> },
}

/// The properties of a state that the engine needs.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<StateId>,
    pub(crate) descendants: StateSet,
    pub(crate) entry: Vec<Vec<Operation>>,
    pub(crate) exit: Vec<Vec<Operation>>,
    pub(crate) initial: Vec<Operation>,
    pub(crate) data: Option<FormulaId>,
    /// The data that a person sees while the state waits, in the chart's order.
    pub(crate) shows: Vec<FormulaId>,
    /// The scopes that a person can grant while the state waits.
    pub(crate) scopes: Option<FormulaId>,
    /// Transitions by event: sorted by event, in document order within one.
    pub(crate) on: Vec<(EventId, Vec<TransitionId>)>,
    /// Events of one state for which this state's candidates differ from [`Node::on`], because it names them by a
    /// qualified name.
    pub(crate) named: Vec<Named>,
    /// Transitions with a wildcard or a prefix, for events the machine does not know.
    pub(crate) open: Vec<TransitionId>,
    pub(crate) always: Vec<TransitionId>,
    pub(crate) done: EventId,
    pub(crate) timeout: EventId,
    /// The history states among its children, with their indices in [`Machine::histories`].
    pub(crate) histories: Vec<(StateId, usize)>,
    /// True if it starts an activity or a timer.
    pub(crate) is_active: bool,
}

/// The candidates of a state for an event that belongs to another state or to itself.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The state that the event belongs to.
    origin: StateId,
    event: EventId,
    /// The candidates inside the origin: by plain names and by the qualified name, in document order.
    pub(crate) inside: Vec<TransitionId>,
    /// The candidates elsewhere: by the qualified name only.
    pub(crate) outside: Vec<TransitionId>,
}

impl Node {
    /// The candidates for an event that every active state hears.
    pub(crate) fn takers(&self, event: EventId) -> &[TransitionId] {
        self.on.iter().find(|(known, _)| *known == event).map_or(&[], |(_, takers)| takers)
    }

    /// The candidates for an event that belongs to a state, if they differ from those of [`Node::takers`].
    pub(crate) fn named(&self, origin: StateId, event: EventId) -> Option<&Named> {
        self.named.iter().find(|named| named.origin == origin && named.event == event)
    }
}

/// A machine ready to run.
#[derive(Clone, Debug)]
pub struct Machine {
    chart: Arc<Chart>,
    pub(crate) nodes: Vec<Node>,
    plans: Vec<Plan>,
    formulas: Vec<Formula>,
    pub(crate) events: Vec<Arc<str>>,
    by_name: BTreeMap<Arc<str>, EventId>,
    /// The same entries, for fast lookup by name. It is never iterated over, so it needs no order.
    numbers: hashbrown::HashMap<Arc<str>, EventId, FxBuildHasher>,
    histories: Vec<StateId>,
    pub(crate) atomic: StateSet,
    pub(crate) eventless: StateSet,
    /// Atomic states that have, or whose ancestors have, a transition with a qualified name.
    pub(crate) listeners: StateSet,
    /// True if the guard of an eventless transition reads the event being handled.
    pub(crate) eventless_reads_event: bool,
    /// True if a state has content or data that may fail.
    pub(crate) states_may_fault: bool,
    /// The data that each activity receives, by invoke.
    pub(crate) with: Vec<FormulaId>,
    /// The initial values of the context.
    initial_context: Vec<FormulaId>,
    pub(crate) error: EventId,
    pub(crate) error_execution: EventId,
    /// The id of the machine, as a value.
    pub(crate) name: Value,
    /// The value of `event` if there is no event: an empty map.
    pub(crate) nothing: Value,
}

impl Machine {
    /// Compiles a chart into a machine.
    pub fn new(chart: Arc<Chart>) -> Self {
        compile::machine(chart)
    }

    /// The chart that the machine was made from.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// A shared reference to the same chart.
    pub fn shared_chart(&self) -> Arc<Chart> {
        self.chart.clone()
    }

    /// Every formula, in the order of [`FormulaId`]s.
    pub fn formulas(&self) -> &[Formula] {
        &self.formulas
    }

    /// The initial values of the context, by variable.
    pub fn initial_context(&self) -> &[FormulaId] {
        &self.initial_context
    }

    /// The engine's properties of a transition.
    pub fn plan(&self, id: TransitionId) -> &Plan {
        &self.plans[id.index()]
    }

    /// The history states, in document order.
    pub fn histories(&self) -> &[StateId] {
        &self.histories
    }

    /// The name of an event. The chart's events come first and have the same ids there.
    pub fn event_name(&self, id: EventId) -> &str {
        &self.events[id.index()]
    }

    /// The number of events that the machine knows: the chart's and the built-in ones.
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// Looks up the id of an event by its name.
    pub fn event(&self, name: &str) -> Option<EventId> {
        self.numbers.get(name).copied()
    }

    /// The known events that a descriptor takes. Names are sorted, so all of them are adjacent.
    fn matched<'a>(&'a self, descriptor: &'a Descriptor) -> impl Iterator<Item = EventId> + 'a {
        let prefix = descriptor.prefix();
        (self.by_name.range::<str, _>((Bound::Included(prefix), Bound::Unbounded)))
            .take_while(move |(name, _)| name.starts_with(prefix))
            .filter(move |(name, _)| descriptor.matches(name))
            .map(|(_, &id)| id)
    }

    /// The event that a state's timeout raises.
    pub fn timeout_event(&self, state: StateId) -> EventId {
        self.nodes[state.index()].timeout
    }

    /// The event that a failed activity raises.
    pub fn error_event(&self) -> EventId {
        self.error
    }

    /// The blocks that a state executes by itself: on entry, on exit, and on entering its initial state.
    pub fn content(&self, state: StateId) -> impl Iterator<Item = &[Operation]> {
        let node = &self.nodes[state.index()];
        node.entry.iter().chain(&node.exit).chain([&node.initial]).map(Vec::as_slice)
    }

    /// The data that a person sees while the state waits, in the order of [`interlock_chart::model::State::shows`].
    pub fn shows(&self, state: StateId) -> &[FormulaId] {
        &self.nodes[state.index()].shows
    }

    /// The scopes that a person can grant while the state waits.
    pub fn scopes(&self, state: StateId) -> Option<FormulaId> {
        self.nodes[state.index()].scopes
    }

    /// The state's descendants.
    pub fn descendants(&self, state: StateId) -> &StateSet {
        &self.nodes[state.index()].descendants
    }

    /// The events for which an active state has a transition, enabled now or not.
    pub fn handled(&self, configuration: &StateSet) -> impl Iterator<Item = EventId> + '_ {
        let mut events: Vec<EventId> = (configuration.iter())
            .flat_map(|state| self.nodes[state.index()].on.iter().map(|(event, _)| *event))
            .collect();
        events.sort_unstable();
        events.dedup();
        events.into_iter()
    }
}

mod compile;
