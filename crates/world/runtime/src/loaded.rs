//! A machine ready to run: compiled once, shared by all its runs.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use interlock_activity::{HandledSignal, Invocation};
use interlock_chart::{
    Chart, Value,
    model::{EffectClass, EventId, Invoke, InvokeId, Signal},
};
use interlock_core::Machine;
use interlock_journal::{Definition, Engine, MadeWith};

use crate::{Error, Result, schema::Checked};

/// The most compiled machines that a process keeps.
const MACHINES_MAX: usize = 64;

/// The machines that this process has compiled, oldest first.
static MACHINES: Mutex<Vec<Arc<LoadedMachine>>> = Mutex::new(Vec::new());

fn machines() -> MutexGuard<'static, Vec<Arc<LoadedMachine>>> {
    MACHINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A compiled machine with its definition.
#[derive(Debug)]
pub struct LoadedMachine {
    /// The machine's source files.
    pub definition: Arc<Definition>,
    /// The compiled form that the engine executes.
    pub machine: Machine,
    /// The file that it was read from, if a person named one or the project has it.
    file: Option<PathBuf>,
    input: OnceLock<Checked>,
    events: Vec<OnceLock<Checked>>,
    signals: Vec<Vec<OnceLock<Checked>>>,
    invocations: Vec<Arc<Invocation>>,
}

impl LoadedMachine {
    /// Compiles a definition, and fails if its files do not form a valid machine.
    pub fn new(definition: Definition) -> Result<Self> {
        let chart = definition.chart()?;
        Ok(Self::of(definition, chart))
    }

    /// Returns the machine with this hash that the process has compiled, or reads it from the store and compiles it.
    pub fn shared(engine: &dyn Engine, hash: &str) -> Result<Arc<Self>> {
        match Self::known(hash) {
            Some(machine) => Ok(machine),
            None => Ok(Self::new(engine.definition(hash)?)?.share()),
        }
    }

    /// Returns the machine with this hash, if the process has compiled it.
    pub(crate) fn known(hash: &str) -> Option<Arc<Self>> {
        machines().iter().find(|machine| machine.definition.hash == hash).cloned()
    }

    /// Keeps the machine for later users in this process. A definition never changes, and its hash names it.
    pub fn share(self) -> Arc<Self> {
        let machine = Arc::new(self);
        let mut machines = machines();
        machines.retain(|other| other.definition.hash != machine.definition.hash);
        if machines.len() >= MACHINES_MAX {
            machines.remove(0);
        }
        machines.push(Arc::clone(&machine));
        machine
    }

    /// Compiles a definition whose chart has already been read.
    pub fn of(definition: Definition, chart: Chart) -> Self {
        let events = chart.events.iter().map(|_| OnceLock::new()).collect();
        let signals = chart.invokes.iter().map(|invoke| invoke.signals.iter().map(|_| OnceLock::new()).collect());
        let signals = signals.collect();
        let definition = Arc::new(definition);
        let machine = Machine::new(Arc::new(chart));
        let chart = machine.chart();
        let invocations = chart.invokes.iter().map(|invoke| Arc::new(invocation(&machine, invoke, &definition)));
        let invocations = invocations.collect();
        LoadedMachine { definition, input: OnceLock::new(), events, signals, invocations, machine, file: None }
    }

    /// Returns the same machine with the file that it was read from.
    #[must_use]
    pub fn read_from(self, file: PathBuf) -> Self {
        LoadedMachine { file: Some(file), ..self }
    }

    /// Returns the facts about this program that a new run records.
    pub(crate) fn made_with(&self) -> MadeWith {
        let machine_file = self.file.as_ref().map(|file| file.display().to_string());
        MadeWith { interlock: env!("CARGO_PKG_VERSION").to_owned(), machine_file }
    }

    /// The machine's chart.
    pub fn chart(&self) -> &Chart {
        self.machine.chart()
    }

    /// Returns the invocation of an activity as the machine declares it.
    pub(crate) fn invocation(&self, invoke: InvokeId) -> &Arc<Invocation> {
        &self.invocations[invoke.index()]
    }

    /// Checks a run's input and fills in defaults.
    pub fn admit_input(&self, input: &Value) -> Result<Value> {
        self.input.get_or_init(|| Checked::new(&self.chart().input)).admit(input).map_err(Error::Input)
    }

    /// Checks an event's data and fills in defaults.
    pub(crate) fn admit_event(&self, event: EventId, data: &Value) -> Result<Value, Vec<String>> {
        self.events[event.index()].get_or_init(|| Checked::new(&self.chart().event(event).data)).admit(data)
    }

    /// Checks the data of an activity's signal and fills in defaults.
    pub(crate) fn admit_signal(&self, invoke: InvokeId, signal: &str, data: &Value) -> Result<Value, Vec<String>> {
        let signals = &self.chart().invoke(invoke).signals;
        match signals.iter().position(|known| *self.machine.event_name(known.event) == *signal) {
            Some(at) => self.signals[invoke.index()][at].get_or_init(|| Checked::new(&signals[at].data)).admit(data),
            None => Err(vec!["the machine declares no such signal".into()]),
        }
    }
}

fn invocation(machine: &Machine, invoke: &Invoke, definition: &Arc<Definition>) -> Invocation {
    let taken = |signal: &Signal| HandledSignal {
        name: machine.event_name(signal.event).to_owned(),
        data: signal.data.clone(),
    };
    Invocation {
        name: invoke.activity.clone(),
        state: machine.chart().state(invoke.state).name.clone(),
        signals: invoke.signals.iter().map(taken).collect(),
        is_declared_read: invoke.effect == Some(EffectClass::Read),
        definition: Arc::clone(definition),
    }
}
