//! The state of a run: plain data, everything a step needs to know about the past.

use std::{fmt, sync::Arc};

use interlock_chart::model::{EventId, InvokeId, Outcome, StateId};

use crate::{Data, Input, Machine, Semantics, StateSet, Values};

/// Names one start of an activity within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct ActivityId(pub u64);

/// Names one timer within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct TimerId(pub u64);

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct State<D: Data = Values> {
    /// The active states, composite ones and the root included.
    pub configuration: StateSet,
    /// What each history state remembers, in the order of [`Machine::histories`]; empty before it remembers anything.
    pub history: Vec<StateSet>,
    /// The counters, in the chart's order.
    pub counters: Vec<u32>,
    /// Activities that have been started and have not ended.
    pub running: Vec<Running>,
    /// Timers that have been set and have not fired.
    pub pending: Vec<Pending<D::Payload>>,
    /// Where the run stands as a whole.
    pub status: Status,
    /// The rules by which the run selects transitions.
    pub semantics: Semantics,
    /// While paused, what activities and timers did in the meantime; nothing while not paused.
    pub held: Option<Vec<Input<D::Payload>>>,
    /// The next activity's or timer's id.
    pub next_id: u64,
    /// The data.
    pub data: D,
}

/// Where a run stands as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not started.
    Ready,
    /// Started and not ended.
    Running,
    /// Ended.
    Done {
        /// How, where the final state says so.
        outcome: Option<Outcome>,
    },
}

/// An activity that has been started and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// This start.
    pub id: ActivityId,
    /// Which activity.
    pub invoke: InvokeId,
}

/// A timer that has been set and has not fired.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending<P> {
    /// This timer.
    pub id: TimerId,
    /// The state whose timeout it is; nothing for a delayed event.
    pub state: Option<StateId>,
    /// The name a delayed event can be cancelled by.
    pub name: Option<Arc<str>>,
    /// What it raises.
    pub event: Event<P>,
}

/// Something that happened, with what it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<P> {
    /// Which.
    pub key: EventKey,
    /// What it carries.
    pub data: P,
}

/// An event's name: known to the machine, or not (then only a wildcard can take it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKey {
    /// Known: an index into [`Machine::event_name`].
    Known(EventId),
    /// Unknown.
    Other(Arc<str>),
}

impl EventKey {
    /// The name.
    pub fn name<'a>(&'a self, machine: &'a Machine) -> &'a str {
        match self {
            EventKey::Known(id) => machine.event_name(*id),
            EventKey::Other(name) => name,
        }
    }

    /// The name, without copying it.
    pub(crate) fn shared_name(&self, machine: &Machine) -> Arc<str> {
        match self {
            EventKey::Known(id) => machine.events[id.index()].clone(),
            EventKey::Other(name) => name.clone(),
        }
    }
}

impl<D: Data> State<D> {
    /// The state of a run that has not started.
    pub fn new(machine: &Machine, data: D) -> Self {
        let states = machine.chart().states.len();
        State {
            configuration: StateSet::new(states),
            history: vec![StateSet::new(states); machine.histories().len()],
            counters: vec![0; machine.chart().counters.len()],
            running: Vec::new(),
            pending: Vec::new(),
            status: Status::Ready,
            semantics: Semantics::CURRENT,
            held: None,
            next_id: 1,
            data,
        }
    }

    /// Whether the run has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.status, Status::Done { .. })
    }

    /// Whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.held.is_some()
    }

    /// The names of the active atomic states, in document order: where the run is, for people.
    pub fn places<'m>(&self, machine: &'m Machine) -> Vec<&'m str> {
        let chart = machine.chart();
        (self.configuration.iter().map(|id| chart.state(id)))
            .filter(|state| state.kind.is_atomic())
            .map(|state| state.name.as_str())
            .collect()
    }

    /// A fresh id for an activity or a timer.
    pub(crate) fn fresh_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

impl State<Values> {
    /// The state of a run that has not started.
    pub fn ready(machine: &Machine) -> Self {
        State::new(machine, Values::new(machine))
    }
}

impl fmt::Display for ActivityId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a{}", self.0)
    }
}

impl fmt::Display for TimerId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "t{}", self.0)
    }
}
