//! A machine ready to move: a chart with everything worked out that does not change from step to step.
//!
//! Event names become numbers, expressions become [`Formula`]s with lowered code, and each state knows its ancestors and
//! descendants as sets. Nothing here depends on a run.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use interlock_chart::{
    Chart, Value,
    model::{Action, CounterId, Descriptor, EventId, Kind, Max, StateId, Template, TransitionId, VarId},
};

use rustc_hash::FxBuildHasher;

use crate::{StateSet, eval::Code};

/// Names a formula of a machine.
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
    /// As the chart has it.
    pub template: Template,
    /// What the engine evaluates.
    pub(crate) code: Code,
}

/// What the engine needs to know of a transition.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where it starts.
    pub source: StateId,
    /// Where it leads.
    pub targets: Vec<StateId>,
    /// Its guard.
    pub guard: Option<FormulaId>,
    /// Counters, the largest value each limit can have, and the expression of the limit where it is not fixed.
    pub limits: Vec<(CounterId, u32, Option<FormulaId>)>,
    /// Counters that go back to 0.
    pub resets: Vec<CounterId>,
    /// What is done.
    pub operations: Vec<Operation>,
    /// Its reason.
    pub reason: Option<FormulaId>,
    /// The state inside which everything is left; nothing where it depends on a history state or there is no target.
    pub(crate) domain: Option<StateId>,
    /// Where all targets are atomic and plain and the way to them is the same every time: the states to enter.
    pub(crate) entry: Option<Vec<StateId>>,
}

/// An action, ready to be done.
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

/// What the engine needs to know of a state.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<StateId>,
    pub(crate) descendants: StateSet,
    pub(crate) entry: Vec<Vec<Operation>>,
    pub(crate) exit: Vec<Vec<Operation>>,
    pub(crate) initial: Vec<Operation>,
    pub(crate) data: Option<FormulaId>,
    /// Transitions by event: sorted by event, in document order within one.
    pub(crate) on: Vec<(EventId, Vec<TransitionId>)>,
    /// Events of one state that a qualified name of this state's takes, or that its plain names take otherwise than by [`Node::on`].
    pub(crate) named: Vec<Named>,
    /// Transitions with a wildcard or a prefix, for events the machine does not know.
    pub(crate) open: Vec<TransitionId>,
    pub(crate) always: Vec<TransitionId>,
    pub(crate) done: EventId,
    pub(crate) timeout: EventId,
    /// History states among its children, with their place in [`Machine::histories`].
    pub(crate) histories: Vec<(StateId, usize)>,
    /// Starts an activity or a timer.
    pub(crate) is_active: bool,
}

/// The candidates of a state for an event that belongs to another state or to itself.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The state that the event belongs to.
    origin: StateId,
    event: EventId,
    /// If the event is heard inside its origin: by plain names and by the qualified one, in document order.
    pub(crate) inside: Vec<TransitionId>,
    /// If it is heard elsewhere: by the qualified name.
    pub(crate) outside: Vec<TransitionId>,
}

impl Node {
    /// The candidates for an event that every active state hears.
    pub(crate) fn takers(&self, event: EventId) -> &[TransitionId] {
        self.on.iter().find(|(known, _)| *known == event).map_or(&[], |(_, takers)| takers)
    }

    /// The candidates for an event that belongs to a state, where they are not those of [`Node::takers`].
    pub(crate) fn named(&self, origin: StateId, event: EventId) -> Option<&Named> {
        self.named.iter().find(|named| named.origin == origin && named.event == event)
    }
}

/// A machine ready to move.
#[derive(Clone, Debug)]
pub struct Machine {
    chart: Arc<Chart>,
    pub(crate) nodes: Vec<Node>,
    plans: Vec<Plan>,
    formulas: Vec<Formula>,
    pub(crate) events: Vec<Arc<str>>,
    by_name: BTreeMap<Arc<str>, EventId>,
    /// The same, for finding one name quickly. Nothing goes over it, so it needs no order.
    numbers: hashbrown::HashMap<Arc<str>, EventId, FxBuildHasher>,
    histories: Vec<StateId>,
    pub(crate) atomic: StateSet,
    pub(crate) eventless: StateSet,
    /// Atomic states for which, or around which, a transition has a qualified name.
    pub(crate) listeners: StateSet,
    /// Whether the guard of an eventless transition looks at the event being handled.
    pub(crate) eventless_reads_event: bool,
    /// What each activity is given, by invoke.
    pub(crate) with: Vec<FormulaId>,
    /// The initial values of the context.
    initial_context: Vec<FormulaId>,
    pub(crate) error: EventId,
    pub(crate) error_execution: EventId,
    /// Its id, as a value.
    pub(crate) name: Value,
    /// What there is to see where there is no event: an empty map.
    pub(crate) nothing: Value,
}

impl Machine {
    /// Works a chart out.
    pub fn new(chart: Arc<Chart>) -> Self {
        compile::machine(chart)
    }

    /// The chart it was made from.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// The same chart, to be kept.
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

    /// What the engine knows of a transition.
    pub fn plan(&self, id: TransitionId) -> &Plan {
        &self.plans[id.index()]
    }

    /// The history states, in document order.
    pub fn histories(&self) -> &[StateId] {
        &self.histories
    }

    /// The name of an event; the chart's events come first and have the same ids there.
    pub fn event_name(&self, id: EventId) -> &str {
        &self.events[id.index()]
    }

    /// How many events the machine knows: the chart's, and the built-in ones.
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// The id of an event's name.
    pub fn event(&self, name: &str) -> Option<EventId> {
        self.numbers.get(name).copied()
    }

    /// The known events that a descriptor takes. Names sort so that all of them stand in a row.
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

    /// The blocks a state executes by itself: on entry, on exit, and on entering its initial state.
    pub fn content(&self, state: StateId) -> impl Iterator<Item = &[Operation]> {
        let node = &self.nodes[state.index()];
        node.entry.iter().chain(&node.exit).chain([&node.initial]).map(Vec::as_slice)
    }

    /// The state's descendants.
    pub fn descendants(&self, state: StateId) -> &StateSet {
        &self.nodes[state.index()].descendants
    }

    /// The events that a transition of an active state takes, whether or not it is enabled now.
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
