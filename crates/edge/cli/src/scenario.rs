//! Scenarios: one way through a machine, in virtual time and without starting any activity.
//!
//! A scenario is a file under `tests/` in the machine's directory. It names the events that happen and the states that
//! must be active afterwards. The machine is moved by the same engine as in a run.

use interlock_chart::{Value, model::InvokeId, yaml};
use interlock_conform::simulation::{NoRest, Simulation};
use interlock_core::{ActivityEnd, ActivityId, Status, Verdict};
use interlock_runtime::{Checked, LoadedMachine};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A scenario as its file states it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// One sentence for people.
    #[serde(default)]
    pub(crate) summary: String,
    /// The run's input.
    #[serde(default = "empty")]
    input: Json,
    /// The steps, in order.
    steps: Vec<ScenarioStep>,
    /// The outcome with which the run must end; without one, the run may go on after the last step.
    outcome: Option<String>,
}

/// One step: time passes, an event happens, states are compared. Each part can be left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioStep {
    /// A duration such as `10m`; timers that become due in it fire.
    wait: Option<String>,
    /// A signal of a running activity, `error`, or an event from outside; `STATE.signal` selects one of several
    /// activities.
    send: Option<String>,
    /// The data of the event.
    #[serde(default = "empty")]
    data: Json,
    /// The active atomic states after the step.
    expect: Option<Places>,
}

/// One state or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Places {
    One(String),
    Several(Vec<String>),
}

fn empty() -> Json {
    json!({})
}

/// Plays a scenario. An `Err` names the first step that does not go as expected.
pub(crate) fn play(loaded: &LoadedMachine, scenario: &Scenario) -> Result<(), String> {
    let input = loaded.admit_input(&Value::from(scenario.input.clone())).map_err(|error| error.to_string())?;
    let mut run = Simulation::start(&loaded.machine, input);
    for (at, step) in (1..).zip(&scenario.steps) {
        take(&mut run, loaded, step).map_err(|why| format!("step {at}: {why}"))?;
    }
    match &scenario.outcome {
        Some(expected) => ended(&run, expected),
        None => Ok(()),
    }
}

fn take(run: &mut Simulation<'_>, loaded: &LoadedMachine, step: &ScenarioStep) -> Result<(), String> {
    if let Some(wait) = &step.wait {
        let ms = yaml::duration_ms(wait).ok_or_else(|| format!("`{wait}` is not a duration such as 90s or 10m"))?;
        run.advance(ms).map_err(|NoRest| "timers keep setting timers".to_owned())?;
    }
    if let Some(event) = &step.send {
        send(run, loaded, event, &step.data)?;
    }
    let expected = match &step.expect {
        None => return Ok(()),
        Some(Places::One(place)) => vec![place.as_str()],
        Some(Places::Several(places)) => places.iter().map(String::as_str).collect(),
    };
    let (mut expected, mut found) = (expected, run.places());
    expected.sort_unstable();
    found.sort_unstable();
    match expected == found {
        true => Ok(()),
        false => Err(format!("expected {}, but the run is in {}", expected.join(" + "), found.join(" + "))),
    }
}

/// Ends the running activity that has this signal, or raises the event from outside.
fn send(run: &mut Simulation<'_>, loaded: &LoadedMachine, event: &str, data: &Json) -> Result<(), String> {
    let given = Value::from(data.clone());
    let verdict = match running(run, loaded, event).as_slice() {
        [] => {
            if let Some(id) = loaded.chart().find_event(event) {
                fits(&loaded.chart().event(id).data, event, data)?;
            }
            run.send(event, given)
        }
        [found] => {
            if let Some(schema) = found.schema(loaded) {
                fits(&schema, event, data)?;
            }
            run.finish(found.id, found.ended(given))
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|found| format!("`{}.{}`", found.state, found.signal)).collect();
            return Err(format!("several activities have `{event}`; write one of {}", names.join(", ")));
        }
    };
    match verdict {
        Verdict::Unhandled => Err(format!("no transition takes `{event}` in {}", run.places().join(" + "))),
        Verdict::Refused(why) => Err(format!("`{event}` is refused: {why}")),
        Verdict::Late => Err(format!("`{event}` comes after the end of the run")),
        _ => Ok(()),
    }
}

/// An activity that can end with a given signal now.
struct Found<'m> {
    id: ActivityId,
    invoke: InvokeId,
    state: &'m str,
    signal: &'m str,
}

impl Found<'_> {
    fn ended(&self, data: Value) -> ActivityEnd {
        match self.signal {
            ERROR => ActivityEnd::Error { data },
            signal => ActivityEnd::Signal { name: Arc::from(signal), data },
        }
    }

    fn schema(&self, loaded: &LoadedMachine) -> Option<Json> {
        let signals = &loaded.chart().invoke(self.invoke).signals;
        let signal = signals.iter().find(|known| loaded.machine.event_name(known.event) == self.signal);
        signal.map(|signal| signal.data.clone())
    }
}

/// The event with which every activity can end.
const ERROR: &str = "error";

/// Returns the running activities that can end with this signal, or with the signal that `STATE.signal` names.
fn running<'m>(run: &Simulation<'m>, loaded: &'m LoadedMachine, event: &str) -> Vec<Found<'m>> {
    let mut found = Vec::new();
    for running in &run.state().running {
        let invoke = loaded.chart().invoke(running.invoke);
        let state = loaded.chart().state(invoke.state).name.as_str();
        let signals = invoke.signals.iter().map(|signal| loaded.machine.event_name(signal.event));
        let is_meant = |signal: &&str| {
            event == *signal || event.strip_prefix(state).and_then(|rest| rest.strip_prefix('.')) == Some(signal)
        };
        if let Some(signal) = signals.chain([ERROR]).find(is_meant) {
            found.push(Found { id: running.id, invoke: running.invoke, state, signal });
        }
    }
    found
}

fn fits(schema: &Json, event: &str, data: &Json) -> Result<(), String> {
    let problems = Checked::with_formats(schema).problems(data);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("the data of `{event}` does not fit its schema: {}", problems.join("; "))),
    }
}

fn ended(run: &Simulation<'_>, expected: &str) -> Result<(), String> {
    let outcome = match run.state().status {
        Status::Done { outcome } => outcome.map_or("none", |outcome| outcome.word()),
        _ => return Err(format!("expected the outcome {expected}, but the run has not ended")),
    };
    match outcome == expected {
        true => Ok(()),
        false => Err(format!("expected the outcome {expected}, but it is {outcome}")),
    }
}
