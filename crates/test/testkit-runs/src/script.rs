//! Deterministic activities and users: their behaviour depends only on the seed and on the request.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, Outcome, OutcomeKind, Registry, Requests, Signal, Site,
};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::AttemptResult;
use interlock_runtime::{CutOff, Offers, Recovered, Snapshots};

use super::{
    stage::Stage,
    world::{Done, Seed, World},
};

/// The duration of a scripted activity.
const TAKES_MS: u64 = 70;

/// One of this many attempts fails.
const FAILS_ONE_IN: usize = 12;

/// The behaviour of all activities and users in a simulation.
pub(crate) struct Script {
    pub(crate) stage: Arc<Stage>,
    pub(crate) seed: Seed,
    pub(crate) world: Arc<World>,
    /// Attempts with a given outcome: those that were interrupted in another run.
    pub(crate) given: BTreeMap<ActivityId, AttemptResult>,
}

impl Script {
    pub(crate) fn input(&self) -> Value {
        let inputs = &self.stage.inputs;
        inputs.get(self.seed.choose(1, inputs.len())).cloned().unwrap_or_default()
    }

    pub(crate) fn registry(self: &Arc<Self>) -> Registry {
        let names = self.stage.loaded.chart().invokes.iter().map(|invoke| invoke.activity.clone());
        names.fold(Registry::default(), |registry, name| registry.with(Scripted { name, script: Arc::clone(self) }))
    }

    /// Chooses the event that a user sends to a waiting run the `nth` time.
    pub(crate) fn button(&self, offers: &Offers, nth: usize) -> Option<(String, Value)> {
        let asked: Vec<_> = offers.events.iter().filter(|offer| !offer.is_general).collect();
        let general: Vec<_> = offers.events.iter().collect();
        let among = if asked.is_empty() { general } else { asked };
        let offer = among.get(self.seed.choose(1_000 + nth as u64, among.len()))?;
        let datas = self.stage.buttons.get(&offer.event)?;
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
            let data = self.stage.failures[self.seed.choose(what + 7, self.stage.failures.len())].clone();
            return OutcomeKind::Error { data };
        }
        let signal = &invocation.signals[self.seed.choose(what + 3, invocation.signals.len())].name;
        let datas = &self.stage.endings[&(invocation.state.clone(), name.to_owned(), signal.clone())];
        let data = datas.get(self.seed.choose(what + 5, datas.len())).cloned().unwrap_or_else(Value::empty);
        OutcomeKind::Signal { name: signal.clone(), data }
    }
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

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn signals(&self) -> &[Signal] {
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
