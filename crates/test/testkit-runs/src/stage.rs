//! A machine whose runs are simulated, with everything that activities and users can answer in them.

use std::{collections::BTreeMap, sync::Arc};

use interlock_chart::{Value, library::Source};
use interlock_journal::Definition;
use interlock_runtime::LoadedMachine;
use interlock_testkit::samples::Samples;

/// A compiled machine and the data that its inputs, signals and events can carry. It is made once for all runs of a
/// simulation.
pub struct Stage {
    pub(crate) loaded: Arc<LoadedMachine>,
    pub(crate) inputs: Vec<Value>,
    /// The possible data of an activity's signal, by state, activity and signal.
    pub(crate) endings: BTreeMap<(String, String, String), Vec<Value>>,
    /// The errors with which an activity can fail.
    pub(crate) failures: Vec<Value>,
    /// The possible data of each event.
    pub(crate) buttons: BTreeMap<String, Vec<Value>>,
}

impl Stage {
    /// Compiles a machine for simulations.
    pub fn new(source: &Source) -> Self {
        let chart = source.read().chart.expect("a machine without errors");
        let loaded = LoadedMachine::of(Definition::new(source, &chart), chart).share();
        let machine = &loaded.machine;
        let (samples, chart) = (Samples::of(machine), machine.chart());
        let endings = chart.invokes.iter().flat_map(|invoke| {
            let state = &chart.state(invoke.state).name;
            invoke.signals.iter().map(|signal| {
                let name = machine.event_name(signal.event).to_owned();
                ((state.clone(), invoke.activity.clone(), name), samples.event(&signal.data))
            })
        });
        let endings = endings.collect();
        let buttons = chart.events.iter().map(|event| (event.name.clone(), samples.event(&event.data))).collect();
        let failures = samples.error().into_iter().filter(|data| !is_runtimes(data)).collect();
        let inputs = samples.input(&chart.input);
        Stage { loaded, inputs, endings, failures, buttons }
    }
}

/// Returns true for an error that only the runtime raises, for attempts that a crash interrupted.
fn is_runtimes(data: &Value) -> bool {
    matches!(data.get("code").and_then(Value::as_str), Some("INTERRUPTED" | "UNKNOWN_OUTCOME"))
}
