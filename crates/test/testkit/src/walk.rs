//! Finds data with which a machine follows a path that is given only by its events.
//!
//! For every event it tries data that the schema allows, a few values for each field, until the engine follows the
//! path. `samples.rs` generates the data.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use interlock_chart::{
    Value,
    model::{InvokeId, TransitionId},
};
use interlock_core::{ActivityEnd, Input, Machine, Semantics, State, Step, Verdict, step};

use crate::samples::Samples;

/// Maximum number of steps for one path with one input, and the additional number for each leg.
const STEPS_MAX: (usize, usize) = (4_000, 60);

/// Maximum number of inputs of the run that are tried.
const INPUTS_MAX: usize = 4_096;

/// One event of a path, and its required result.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// The event, or `start` for the start of the run.
    pub event: String,
    /// The raiser of the event: an activity's name, `timer`, or any other text for an external event.
    pub by: String,
    /// The active atomic states after the event.
    pub to: Vec<String>,
    /// Transitions that must be taken.
    pub takes: Vec<TransitionId>,
}

/// The values that are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Low numbers, `false` and missing fields come first.
    Low,
    /// High numbers, `true` and present fields come first.
    High,
}

/// The generated data, by the invocation and the event.
type KnownOutcomes = BTreeMap<(Option<InvokeId>, String), Vec<Value>>;

/// Follows paths of one machine.
pub struct Walker<'m> {
    machine: &'m Machine,
    samples: Samples,
    known: RefCell<KnownOutcomes>,
}

impl<'m> Walker<'m> {
    /// Creates a walker with the constants of the machine's guards.
    pub fn new(machine: &'m Machine) -> Self {
        Walker { machine, samples: Samples::of(machine), known: RefCell::default() }
    }

    /// Returns the inputs that lead along the path, or `None` if none were found. No expression may fail to evaluate on
    /// the path.
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

    /// Searches depth first: if no data continues the path, other data is tried for the previous leg.
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

    /// Returns the inputs that a leg can stand for.
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

    fn endings(&self, invoke: InvokeId, leg: &Leg, first: First) -> Vec<ActivityEnd> {
        let signals = &self.machine.chart().invoke(invoke).signals;
        let signal = signals.iter().find(|signal| self.machine.event_name(signal.event) == leg.event);
        let (name, event): (Arc<str>, _) = (leg.event.as_str().into(), leg.event.as_str());
        match signal {
            Some(signal) => {
                let data = self.data(Some(invoke), event, |samples| samples.event(&signal.data), first);
                data.into_iter().map(|data| ActivityEnd::Signal { name: name.clone(), data }).collect()
            }
            None if event == "error" => {
                let data = self.data(None, event, Samples::error, first);
                data.into_iter().map(|data| ActivityEnd::Error { data }).collect()
            }
            None => Vec::new(),
        }
    }

    /// Returns the data to try for an event, or for the start of a run.
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
