//! Time and cost per state of a run, counted record by record and continued when the run has grown.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use interlock_chart::model::StateId;
use interlock_follow::{Follower, Meter, Step, turn_of};
use interlock_journal::{Head, RunKey};
use serde::Serialize;

use crate::{app::App, problem::Result};

/// The number of records that are read at a time.
const CHUNK: usize = 1_000;

/// The most runs whose totals are kept.
const RUNS_MAX: usize = 8;

/// The totals of the runs that were asked for last, most recent last.
#[derive(Default)]
pub(crate) struct AllTotals(Mutex<Vec<(RunKey, Kept)>>);

/// The totals of a run; `None` until they are counted for the first time.
type Kept = Arc<Mutex<Option<Totals>>>;

/// The time and cost of one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct StateTotal {
    /// The number of times that it was entered.
    pub(crate) entered: u64,
    /// The time in the state, in milliseconds, without the present visit.
    pub(crate) ms: i64,
    /// The number of activities that ended in it.
    pub(crate) activities: u64,
    /// The tokens of its judgements: to the model and from it.
    pub(crate) tokens: (u64, u64),
    /// The tokens of the turns of coding agents.
    pub(crate) agent_tokens: u64,
    /// The cost of its judgements and turns.
    pub(crate) cost: f64,
}

/// The totals of a run up to a record.
struct Totals {
    follower: Follower,
    states: BTreeMap<String, StateTotal>,
    /// The states that are active, with the time of their entry.
    since: BTreeMap<StateId, i64>,
    agents: Meter,
}

impl AllTotals {
    /// Returns the totals of a run, by the name of the state.
    pub(crate) fn of(&self, app: &App, head: &Head) -> Result<BTreeMap<String, StateTotal>> {
        let kept = self.kept(head.key);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let totals = match kept.as_mut() {
            Some(totals) => totals,
            None => {
                let follower = Follower::from_start(app, head.clone())?;
                kept.insert(Totals {
                    follower,
                    states: BTreeMap::new(),
                    since: BTreeMap::new(),
                    agents: Meter::default(),
                })
            }
        };
        loop {
            let steps = totals.follower.read(CHUNK)?;
            steps.iter().for_each(|step| totals.add(step));
            if steps.len() < CHUNK {
                return Ok(totals.states.clone());
            }
        }
    }

    fn kept(&self, run: RunKey) -> Kept {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|(key, _)| *key == run).map(|at| all.remove(at).1);
        let kept = found.unwrap_or_default();
        if all.len() >= RUNS_MAX {
            all.remove(0);
        }
        all.push((run, Arc::clone(&kept)));
        kept
    }
}

impl Totals {
    fn add(&mut self, step: &Step) {
        let at_ms = step.record.at_ms;
        for round in &step.microsteps {
            for state in &round.exited {
                let since = self.since.remove(state).unwrap_or(at_ms);
                self.total(*state).ms += (at_ms - since).max(0);
            }
            for state in &round.entered {
                self.since.insert(*state, at_ms);
                self.total(*state).entered += 1;
            }
        }
        let turn = turn_of(&step.entry).map(|now| self.agents.advance(now));
        let Some(activity) = &step.activity else { return };
        let judge = step.moves.iter().find_map(|step| step.judge.as_ref());
        let total = self.states.entry(activity.state.clone()).or_default();
        total.activities += u64::from(matches!(step.entry, interlock_journal::Entry::Outcome { .. }));
        if let Some(judge) = judge {
            total.tokens = (total.tokens.0 + judge.tokens.0, total.tokens.1 + judge.tokens.1);
            total.cost += judge.cost;
        }
        if let Some(turn) = turn {
            // Agents do not report which tokens went in and which came out.
            total.agent_tokens += turn.tokens;
            total.cost += turn.cost;
        }
    }

    fn total(&mut self, state: StateId) -> &mut StateTotal {
        let name = &self.follower.live.loaded.chart().state(state).name;
        self.states.entry(name.clone()).or_default()
    }
}
