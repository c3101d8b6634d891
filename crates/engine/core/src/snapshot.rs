//! The stored form of a state: by name and with a version, so that a person and a later version can read it.

use std::{collections::BTreeMap, sync::Arc};

use interlock_chart::{
    Chart, Value,
    model::{InvokeId, StateId},
};
use serde::{Deserialize, Serialize};

use crate::{
    ActivityEnd, ActivityId, Event, EventKey, Input, Machine, Pending, Running, Semantics, State, StateSet, Status,
    TimerId, Values,
};

/// The version of the stored form. A reader refuses a newer version.
pub const SNAPSHOT_VERSION: u32 = 1;

/// The stored form of a [`State`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The [`SNAPSHOT_VERSION`] of the program that wrote it.
    pub version: u32,
    /// The hash of the machine it belongs to.
    pub machine: String,
    /// The rules by which the run selects transitions.
    #[serde(default = "Semantics::first", skip_serializing_if = "Semantics::is_first")]
    pub semantics: Semantics,
    /// The names of the active states.
    pub configuration: Vec<String>,
    /// The states that each history state has recorded.
    pub history: BTreeMap<String, Vec<String>>,
    /// The counters that are not 0.
    pub counters: BTreeMap<String, u32>,
    /// The number of entries of each state that was entered at all.
    pub visits: BTreeMap<String, u32>,
    /// Activities that are running.
    pub running: Vec<StoredRunning>,
    /// Timers that are set.
    pub pending: Vec<StoredPending>,
    /// The status of the run as a whole.
    pub status: Status,
    /// The inputs that a paused run holds; `None` if it is not paused.
    pub held: Option<Vec<StoredHeld>>,
    /// The id that the next activity or timer gets.
    pub next_id: u64,
    /// The id of the run.
    pub session: String,
    /// The input that the run was started with.
    pub input: Value,
    /// The variables of the context by name.
    pub context: BTreeMap<String, Value>,
}

/// An activity that is running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct StoredRunning {
    pub id: ActivityId,
    pub state: String,
    /// The index among the state's activities.
    pub at: usize,
    pub activity: String,
}

/// A timer that is set and has not fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct StoredPending {
    pub id: TimerId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub event: String,
    pub data: Value,
}

/// A result of an activity or a timer that arrived while the run was paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum StoredHeld {
    Signal { activity: ActivityId, name: String, data: Value },
    Error { activity: ActivityId, data: Value },
    Timer { timer: TimerId },
}

/// The reason why a stored state cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// A later version wrote it.
    #[error("the stored state has version {0}, newer than {SNAPSHOT_VERSION}; a newer interlock wrote it")]
    Newer(u32),
    /// It belongs to another machine, or to another version of the machine.
    #[error("the stored state belongs to machine {found}, not to {expected}")]
    OtherMachine {
        /// The hash in the stored state.
        found: String,
        /// The hash of the given machine.
        expected: String,
    },
    /// It names something the machine does not have.
    #[error("the stored state names {kind} `{name}`, which the machine does not have")]
    Unknown {
        /// The kind of the unknown thing.
        kind: &'static str,
        /// The name that is unknown.
        name: String,
    },
}

impl State<Values> {
    /// Converts the state into its stored form.
    pub fn snapshot(&self, machine: &Machine) -> Snapshot {
        let chart = machine.chart();
        let names = |set: &StateSet| set.iter().map(|state| chart.state(state).name.clone()).collect::<Vec<_>>();
        Snapshot {
            version: SNAPSHOT_VERSION,
            machine: chart.hash.clone(),
            semantics: self.semantics,
            configuration: names(&self.configuration),
            history: (machine.histories().iter().zip(&self.history))
                .filter(|(_, remembered)| !remembered.is_empty())
                .map(|(history, remembered)| (chart.state(*history).name.clone(), names(remembered)))
                .collect(),
            counters: nonzero(chart.counters.iter().map(|counter| &counter.name), &self.counters),
            visits: nonzero(chart.states.iter().map(|state| &state.name), &self.data.visits),
            running: self.running.iter().map(|running| store_running(chart, running)).collect(),
            pending: self.pending.iter().map(|pending| store_pending(machine, pending)).collect(),
            status: self.status,
            held: self.held.as_ref().map(|held| held.iter().filter_map(store_held).collect()),
            next_id: self.next_id,
            session: self.data.session.to_string(),
            input: self.data.input.clone(),
            context: (chart.context.iter().zip(&self.data.context))
                .map(|(variable, value)| (variable.name.clone(), value.clone()))
                .collect(),
        }
    }
}

impl Snapshot {
    /// Restores the state from its stored form. A state of another machine is refused.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use interlock_chart::{Value, yaml};
    /// use interlock_core::{Input, Machine, Semantics, Snapshot, SnapshotError, State, step};
    ///
    /// let source = "
    /// machine: lamp
    /// version: 1
    /// events: { press: { from: user } }
    /// initial: off
    /// states: { off: { on: { press: lit } }, lit: { on: { press: off } } }
    /// ";
    /// let machine = |source: &str| Machine::new(Arc::new(yaml::read(source).chart.unwrap()));
    /// let lamp = machine(source);
    /// let started = Input::Started { session: "lamp-1".into(), input: Value::empty(), semantics: Semantics::CURRENT };
    /// let state = step(&lamp, State::ready(&lamp), started).state;
    ///
    /// let stored = serde_json::to_string(&state.snapshot(&lamp)).unwrap();
    /// let snapshot: Snapshot = serde_json::from_str(&stored).unwrap();
    /// assert_eq!(snapshot.restore(&lamp).unwrap(), state);
    ///
    /// let other = machine(&source.replace("version: 1", "version: 2"));
    /// assert!(matches!(snapshot.restore(&other), Err(SnapshotError::OtherMachine { .. })));
    /// ```
    pub fn restore(&self, machine: &Machine) -> Result<State, SnapshotError> {
        let chart = machine.chart();
        if self.version > SNAPSHOT_VERSION {
            return Err(SnapshotError::Newer(self.version));
        }
        if self.machine != chart.hash {
            return Err(SnapshotError::OtherMachine { found: self.machine.clone(), expected: chart.hash.clone() });
        }
        let mut state = State::ready(machine);
        state.configuration = set(chart, &self.configuration)?;
        for (name, remembered) in &self.history {
            let id = find_state(chart, name)?;
            let at = machine.histories().iter().position(|&history| history == id);
            state.history[at.ok_or_else(|| unknown("history state", name))?] = set(chart, remembered)?;
        }
        for (name, count) in &self.counters {
            let counter = chart.find_counter(name).ok_or_else(|| unknown("counter", name))?;
            state.counters[counter.index()] = *count;
        }
        for (name, visits) in &self.visits {
            state.data.visits[find_state(chart, name)?.index()] = *visits;
        }
        for (name, value) in &self.context {
            let at = chart.context.iter().position(|variable| variable.name == *name);
            state.data.context[at.ok_or_else(|| unknown("variable", name))?] = value.clone();
        }
        state.running = self.running.iter().map(|stored| load_running(chart, stored)).collect::<Result<_, _>>()?;
        state.pending = self.pending.iter().map(|stored| load_pending(machine, stored)).collect::<Result<_, _>>()?;
        state.held = self.held.as_ref().map(|held| held.iter().map(load_held).collect());
        state.status = self.status;
        state.semantics = self.semantics;
        state.next_id = self.next_id;
        state.data.session = self.session.as_str().into();
        state.data.input = self.input.clone();
        Ok(state)
    }
}

fn nonzero<'a>(names: impl Iterator<Item = &'a String>, counts: &[u32]) -> BTreeMap<String, u32> {
    names.zip(counts).filter(|(_, count)| **count > 0).map(|(name, count)| (name.clone(), *count)).collect()
}

fn unknown(kind: &'static str, name: &str) -> SnapshotError {
    SnapshotError::Unknown { kind, name: name.to_owned() }
}

fn find_state(chart: &Chart, name: &str) -> Result<StateId, SnapshotError> {
    chart.find_state(name).ok_or_else(|| unknown("state", name))
}

fn set(chart: &Chart, names: &[String]) -> Result<StateSet, SnapshotError> {
    let mut set = StateSet::new(chart.states.len());
    for name in names {
        set.insert(find_state(chart, name)?);
    }
    Ok(set)
}

fn store_running(chart: &Chart, running: &Running) -> StoredRunning {
    let invoke = chart.invoke(running.invoke);
    let state = chart.state(invoke.state);
    StoredRunning {
        id: running.id,
        state: state.name.clone(),
        at: state.invokes.iter().position(|&id| id == running.invoke).unwrap_or(0),
        activity: invoke.activity.clone(),
    }
}

fn load_running(chart: &Chart, stored: &StoredRunning) -> Result<Running, SnapshotError> {
    let state = chart.state(find_state(chart, &stored.state)?);
    let invoke: InvokeId = *state.invokes.get(stored.at).ok_or_else(|| unknown("activity", &stored.activity))?;
    Ok(Running { id: stored.id, invoke })
}

fn store_pending(machine: &Machine, pending: &Pending<Value>) -> StoredPending {
    StoredPending {
        id: pending.id,
        state: pending.state.map(|state| machine.chart().state(state).name.clone()),
        name: pending.name.as_deref().map(str::to_owned),
        event: pending.event.key.name(machine).to_owned(),
        data: pending.event.data.clone(),
    }
}

fn load_pending(machine: &Machine, stored: &StoredPending) -> Result<Pending<Value>, SnapshotError> {
    let key = machine.event(&stored.event);
    Ok(Pending {
        id: stored.id,
        state: stored.state.as_deref().map(|name| find_state(machine.chart(), name)).transpose()?,
        name: stored.name.as_deref().map(Arc::from),
        event: Event {
            key: key.map_or_else(|| EventKey::Other(stored.event.as_str().into()), EventKey::Known),
            data: stored.data.clone(),
        },
    })
}

/// Only results of activities and timers are held; a paused run refuses every other input.
fn store_held(input: &Input) -> Option<StoredHeld> {
    match input {
        Input::ActivityFinished { activity, ended: ActivityEnd::Signal { name, data } } => {
            Some(StoredHeld::Signal { activity: *activity, name: name.to_string(), data: data.clone() })
        }
        Input::ActivityFinished { activity, ended: ActivityEnd::Error { data } } => {
            Some(StoredHeld::Error { activity: *activity, data: data.clone() })
        }
        Input::TimerFired { timer } => Some(StoredHeld::Timer { timer: *timer }),
        Input::Started { .. } | Input::EventRaised { .. } | Input::Paused | Input::Resumed | Input::Aborted => None,
    }
}

fn load_held(stored: &StoredHeld) -> Input {
    match stored {
        StoredHeld::Signal { activity, name, data } => Input::ActivityFinished {
            activity: *activity,
            ended: ActivityEnd::Signal { name: name.as_str().into(), data: data.clone() },
        },
        StoredHeld::Error { activity, data } => {
            Input::ActivityFinished { activity: *activity, ended: ActivityEnd::Error { data: data.clone() } }
        }
        StoredHeld::Timer { timer } => Input::TimerFired { timer: *timer },
    }
}
