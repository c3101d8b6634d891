//! A way through a machine that is only told in words (this event, then that one), gone with real data.
//!
//! For every event the data that its schema allows is tried, a few values for each field, until the engine goes where the way goes. Which
//! data is tried is said in `samples.rs`.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use interlock_chart::{
    Value,
    model::{InvokeId, TransitionId},
};
use interlock_core::{Ended, Input, Machine, Semantics, State, Step, Verdict, step};

use crate::samples::Samples;

/// How many steps are tried for one way with one input, and how many more for each of its legs.
const STEPS_MAX: (usize, usize) = (4_000, 60);

/// How many inputs a run is tried with.
const INPUTS_MAX: usize = 48;

/// One input of a way, and what must come of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// The event; `start` for the start of the run.
    pub event: String,
    /// Who raises it: an activity's name, `timer`, or somebody outside.
    pub by: String,
    /// The active atomic states after it.
    pub to: Vec<String>,
    /// Transitions that are taken on it.
    pub takes: Vec<TransitionId>,
}

/// Which values are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Low numbers, `false`, missing fields.
    Low,
    /// High numbers, `true`, fields that are there.
    High,
}

/// What was tried, by who raises which event.
type Known = BTreeMap<(Option<InvokeId>, String), Vec<Value>>;

/// Goes ways of one machine.
pub struct Walker<'m> {
    machine: &'m Machine,
    samples: Samples,
    known: RefCell<Known>,
}

impl<'m> Walker<'m> {
    /// A walker who knows what the machine's guards ask.
    pub fn new(machine: &'m Machine) -> Self {
        Walker { machine, samples: Samples::of(machine), known: RefCell::default() }
    }

    /// The inputs that lead along the way; nothing where none were found. Nothing may fail to evaluate on it.
    pub fn walk(&self, way: &[Leg], first: First) -> Option<Vec<Input>> {
        let (start, rest) = way.split_first()?;
        let inputs = self.candidates(&State::ready(self.machine), start, first);
        inputs.into_iter().take(INPUTS_MAX).find_map(|input| {
            let begun = self.fits(State::ready(self.machine), &input, start)?;
            let mut walk = vec![input];
            walk.extend(self.continue_from(begun, rest, first)?);
            Some(walk)
        })
    }

    /// Depth first: where no data leads on, other data is tried for the leg before.
    fn continue_from(&self, state: State, way: &[Leg], first: First) -> Option<Vec<Input>> {
        let mut stack: Vec<(State, std::vec::IntoIter<Input>)> = Vec::new();
        let (mut walk, mut state) = (Vec::new(), Some(state));
        let mut steps_left = STEPS_MAX.0 + STEPS_MAX.1 * way.len();
        while walk.len() < way.len() {
            let leg = &way[walk.len()];
            if let Some(state) = state.take() {
                let candidates = self.candidates(&state, leg, first);
                stack.push((state, candidates.into_iter()));
            }
            let (before, candidates) = stack.last_mut()?;
            match candidates.next() {
                Some(input) => {
                    steps_left = steps_left.checked_sub(1)?;
                    state = self.fits(before.clone(), &input, leg);
                    walk.extend(state.is_some().then_some(input));
                }
                None => {
                    stack.pop();
                    walk.pop();
                }
            }
        }
        Some(walk)
    }

    fn fits(&self, state: State, input: &Input, leg: &Leg) -> Option<State> {
        let Step { state, trace, verdict, .. } = step(self.machine, state, input.clone());
        let taken: Vec<TransitionId> = trace.transitions().collect();
        let is_sound = verdict == Verdict::Taken && trace.microsteps.iter().all(|round| round.faults.is_empty());
        let is_it = is_sound && leg.takes.iter().all(|id| taken.contains(id)) && state.places(self.machine) == leg.to;
        is_it.then_some(state)
    }

    /// What may be meant by a leg.
    fn candidates(&self, state: &State, leg: &Leg, first: First) -> Vec<Input> {
        let chart = self.machine.chart();
        if leg.event == "start" && leg.by.is_empty() {
            let inputs = self.data(None, "", |samples| samples.input(&chart.input), first);
            let semantics = Semantics::CURRENT;
            let started = |input| Input::Started { session: "walk".into(), input, semantics };
            return inputs.into_iter().map(started).collect();
        }
        let timer = state.pending.iter().find(|pending| pending.event.key.name(self.machine) == leg.event);
        if let (Some(timer), "timer") = (timer, leg.by.as_str()) {
            return vec![Input::TimerFired { timer: timer.id }];
        }
        let running = state.running.iter().filter(|running| chart.invoke(running.invoke).activity == leg.by);
        let mut inputs = Vec::new();
        for running in running {
            let ended = self.endings(running.invoke, leg, first).into_iter();
            inputs.extend(ended.map(|ended| Input::ActivityFinished { activity: running.id, ended }));
        }
        if let (true, Some(id)) = (inputs.is_empty(), chart.find_event(&leg.event)) {
            let (event, by): (Arc<str>, _) = (leg.event.as_str().into(), chart.event(id).from);
            let data = self.data(None, &leg.event, |samples| samples.event(&chart.event(id).data), first);
            inputs.extend(data.into_iter().map(|data| Input::EventRaised { event: Arc::clone(&event), data, by }));
        }
        inputs
    }

    fn endings(&self, invoke: InvokeId, leg: &Leg, first: First) -> Vec<Ended> {
        let signals = &self.machine.chart().invoke(invoke).signals;
        let signal = signals.iter().find(|signal| self.machine.event_name(signal.event) == leg.event);
        let (name, event): (Arc<str>, _) = (leg.event.as_str().into(), leg.event.as_str());
        match signal {
            Some(signal) => {
                let data = self.data(Some(invoke), event, |samples| samples.event(&signal.data), first);
                data.into_iter().map(|data| Ended::Signal { name: name.clone(), data }).collect()
            }
            None if event == "error" => {
                let data = self.data(None, event, Samples::error, first);
                data.into_iter().map(|data| Ended::Error { data }).collect()
            }
            None => Vec::new(),
        }
    }

    /// The data to be tried for an event, or for the start of a run.
    fn data(
        &self,
        invoke: Option<InvokeId>,
        event: &str,
        make: impl FnOnce(&Samples) -> Vec<Value>,
        first: First,
    ) -> Vec<Value> {
        let mut known = self.known.borrow_mut();
        let mut made = known.entry((invoke, event.to_owned())).or_insert_with(|| make(&self.samples)).clone();
        if first == First::High {
            made.reverse();
        }
        made
    }
}
