//! The state of a run: plain data with everything a step needs to know about the past.

use std::{fmt, sync::Arc};

use interlock_chart::model::{EventId, InvokeId, Outcome, StateId};

use crate::{Data, Input, Machine, Semantics, StateSet, Values};

/// Identifies one start of an activity within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct ActivityId(pub u64);

/// Identifies one timer within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct TimerId(pub u64);

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct State<D: Data = Values> {
    /// The active states, composite ones and the root included.
    pub configuration: StateSet,
    /// The states that each history state has recorded, in the order of [`Machine::histories`]; empty before the first
    /// recording.
    pub history: Vec<StateSet>,
    /// The counters, in the chart's order.
    pub counters: Vec<u32>,
    /// Activities that have been started and have not ended.
    pub running: Vec<Running>,
    /// Timers that have been set and have not fired.
    pub pending: Vec<Pending<D::Payload>>,
    /// The status of the run as a whole.
    pub status: Status,
    /// The rules by which the run selects transitions.
    pub semantics: Semantics,
    /// The results of activities and timers that arrived while paused; `None` while not paused.
    pub held: Option<Vec<Input<D::Payload>>>,
    /// The id that the next activity or timer gets.
    pub next_id: u64,
    /// The data of the run.
    pub data: D,
}

/// The status of a run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The run has not started.
    Ready,
    /// The run has started and not ended.
    Running,
    /// The run has ended.
    Done {
        /// The outcome, if the final state names one.
        outcome: Option<Outcome>,
    },
}

/// An activity that has been started and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The id of this start.
    pub id: ActivityId,
    /// The activity's index in the chart's list.
    pub invoke: InvokeId,
}

/// A timer that has been set and has not fired.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending<P> {
    /// The id of this timer.
    pub id: TimerId,
    /// The state whose timeout it is; `None` for a delayed event.
    pub state: Option<StateId>,
    /// The name by which a delayed event can be cancelled.
    pub name: Option<Arc<str>>,
    /// The event that it raises.
    pub event: Event<P>,
}

/// An event with the data that it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<P> {
    /// The name of the event.
    pub key: EventKey,
    /// The data that the event carries.
    pub data: P,
}

/// The name of an event. If the machine does not know it, only a wildcard or a prefix can take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKey {
    /// A known event: an index into [`Machine::event_name`].
    Known(EventId),
    /// An event that the machine does not know.
    Other(Arc<str>),
}

impl EventKey {
    /// The name as text.
    pub fn name<'a>(&'a self, machine: &'a Machine) -> &'a str {
        match self {
            EventKey::Known(id) => machine.event_name(*id),
            EventKey::Other(name) => name,
        }
    }

    /// The name, shared without copying it.
    pub(crate) fn shared_name(&self, machine: &Machine) -> Arc<str> {
        match self {
            EventKey::Known(id) => machine.events[id.index()].clone(),
            EventKey::Other(name) => name.clone(),
        }
    }
}

impl<D: Data> State<D> {
    /// Creates the state of a run that has not started.
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

    /// Returns true if the run has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.status, Status::Done { .. })
    }

    /// Returns true if the run is paused.
    pub fn is_paused(&self) -> bool {
        self.held.is_some()
    }

    /// The names of the active atomic states, in document order: the position of the run, for people.
    pub fn places<'m>(&self, machine: &'m Machine) -> Vec<&'m str> {
        let chart = machine.chart();
        (self.configuration.iter().map(|id| chart.state(id)))
            .filter(|state| state.kind.is_atomic())
            .map(|state| state.name.as_str())
            .collect()
    }

    /// Returns a new id for an activity or a timer.
    pub(crate) fn fresh_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

impl State<Values> {
    /// Creates the state of a run that has not started.
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
