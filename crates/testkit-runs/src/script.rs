//! Deterministic activities and users: their behaviour depends only on the seed and on the request.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, OutcomeKind, Registry};
use interlock_chart::Value;
use interlock_core::{ActivityId, Machine};
use interlock_journal::AttemptResult;
use interlock_runtime::{CutOff, Offers, Recovered, Snapshots};
use interlock_testkit::samples::Samples;

use super::world::{Done, Seed, World};

/// The duration of a scripted activity.
const TAKES_MS: u64 = 70;

/// One of this many attempts fails.
const FAILS_ONE_IN: usize = 12;

/// The behaviour of all activities and users in a simulation.
pub(crate) struct Script {
    pub(crate) seed: Seed,
    pub(crate) world: Arc<World>,
    /// Attempts with a given outcome: those that were interrupted in another run.
    pub(crate) given: BTreeMap<ActivityId, AttemptResult>,
    /// The possible data of an activity's signal, by state, activity and signal.
    endings: BTreeMap<(String, String, String), Vec<Value>>,
    failures: Vec<Value>,
    buttons: BTreeMap<String, Vec<Value>>,
    pub(crate) input: Value,
}

impl Script {
    pub(crate) fn new(
        machine: &Machine,
        seed: Seed,
        world: Arc<World>,
        given: BTreeMap<ActivityId, AttemptResult>,
    ) -> Arc<Self> {
        let samples = Samples::of(machine);
        let chart = machine.chart();
        let endings = chart.invokes.iter().flat_map(|invoke| {
            let state = &chart.state(invoke.state).name;
            let signals = invoke.signals.iter();
            signals.map(|signal| {
                let name = machine.event_name(signal.event).to_owned();
                ((state.clone(), invoke.activity.clone(), name), samples.event(&signal.data))
            })
        });
        let buttons = chart.events.iter().map(|event| (event.name.clone(), samples.event(&event.data)));
        let inputs = samples.input(&chart.input);
        let input = inputs.get(seed.choose(1, inputs.len())).cloned().unwrap_or_default();
        Arc::new(Script {
            seed,
            world,
            given,
            endings: endings.collect(),
            failures: samples.error().into_iter().filter(|data| !is_runtimes(data)).collect(),
            buttons: buttons.collect(),
            input,
        })
    }

    pub(crate) fn registry(self: &Arc<Self>, machine: &Machine) -> Registry {
        let names = machine.chart().invokes.iter().map(|invoke| invoke.activity.clone());
        names.fold(Registry::default(), |registry, name| registry.with(Scripted { name, script: Arc::clone(self) }))
    }

    /// Chooses the event that a user sends to a waiting run the `nth` time.
    pub(crate) fn button(&self, offers: &Offers, nth: usize) -> Option<(String, Value)> {
        let asked: Vec<_> = offers.events.iter().filter(|offer| !offer.is_general).collect();
        let general: Vec<_> = offers.events.iter().collect();
        let among = if asked.is_empty() { general } else { asked };
        let offer = among.get(self.seed.choose(1_000 + nth as u64, among.len()))?;
        let datas = self.buttons.get(&offer.event)?;
        let data = datas.get(self.seed.choose(2_000 + nth as u64, datas.len())).cloned();
        Some((offer.event.clone(), data.unwrap_or_else(Value::empty)))
    }

    fn outcome(&self, attempt: &Attempt, name: &str) -> Outcome {
        let evidence = attempt.evidence.put("output", "text/plain", format!("{name} {}", attempt.activity).as_bytes());
        Outcome::from(self.ends_with(attempt, name)).with(evidence)
    }

    fn ends_with(&self, attempt: &Attempt, name: &str) -> OutcomeKind {
        let what = attempt.activity.0;
        let invocation = &attempt.invocation;
        if invocation.signals.is_empty() || self.seed.choose(what, FAILS_ONE_IN) == 0 {
            let data = self.failures[self.seed.choose(what + 7, self.failures.len())].clone();
            return OutcomeKind::Error { data };
        }
        let signal = &invocation.signals[self.seed.choose(what + 3, invocation.signals.len())].name;
        let datas = &self.endings[&(invocation.state.clone(), name.to_owned(), signal.clone())];
        let data = datas.get(self.seed.choose(what + 5, datas.len())).cloned().unwrap_or_else(Value::empty);
        OutcomeKind::Signal { name: signal.clone(), data }
    }
}

/// Returns true for an error that only the runtime raises, for attempts that a crash interrupted.
fn is_runtimes(data: &Value) -> bool {
    matches!(data.get("code").and_then(Value::as_str), Some("INTERRUPTED" | "UNKNOWN_OUTCOME"))
}

struct Scripted {
    name: String,
    script: Arc<Script>,
}

impl Activity for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        "does what the script says"
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn schema(&self) -> interlock_activity::Schema {
        interlock_activity::schema::any()
    }

    fn signals(&self) -> &[&str] {
        &[]
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let (script, name) = (Arc::clone(&self.script), self.name.clone());
        Box::pin(async move {
            if let Some(result) = script.given.get(&attempt.activity) {
                return match result.clone() {
                    AttemptResult::Signal { name, data } => Outcome::signal(name, data),
                    AttemptResult::Error { data } => OutcomeKind::Error { data }.into(),
                };
            }
            if script.world.dies(|| format!("at the dispatch of {name}")) {
                std::future::pending::<()>().await;
            }
            attempt.host.sleep(TAKES_MS).await;
            script.world.do_it(attempt.activity, &name);
            if script.world.dies(|| format!("before the outcome of {name}")) {
                std::future::pending::<()>().await;
            }
            script.outcome(&attempt, &name)
        })
    }
}

impl World {
    fn do_it(&self, id: ActivityId, activity: &str) {
        let mut done = self.done.lock().unwrap();
        let done = done.entry(id).or_insert(Done { activity: activity.to_owned(), writes: false, times: 0 });
        done.times += 1;
    }
}

/// Snapshots without content, which always succeed.
pub(crate) struct Counting;

impl Snapshots for Counting {
    fn take(&self, _: &Path, _: &str) -> Result<Option<String>, interlock_runtime::Untaken> {
        Ok(Some("before".into()))
    }

    fn recover(&self, _: &CutOff) -> Result<Recovered, String> {
        Ok(Recovered::PutBack { said: "everything".into() })
    }
}
