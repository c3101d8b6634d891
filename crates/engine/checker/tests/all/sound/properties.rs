//! Random machines with random properties, and a second implementation of the monitors, independent of the checker's.

use std::{fmt::Write, sync::Arc};

use interlock_chart::{
    Chart,
    model::{EventId, Observation, ObservedFact, PropertyKind, Transition},
    yaml,
};
use interlock_core::{ActivityEnd, EventKey, Input, Machine, Microstep, State, Step};
use interlock_testkit::random::{self, Rng, Temper};

const PROPERTIES: usize = 8;

/// The text of a random machine with properties; `None` if the reader refuses it.
pub(crate) fn text(seed: u64) -> Option<String> {
    let temper = [Temper::Calm, Temper::Alone, Temper::Calm, Temper::Wild][usize::try_from(seed % 4).unwrap_or(0)];
    let source = random::text_of(temper, seed);
    let chart = yaml::read(&source).chart?;
    let states = chart.states[1..].iter().filter(|state| !state.kind.is_history());
    let states: Vec<String> = states.map(|state| state.name.clone()).collect();
    let inner = chart.transitions.iter().filter(|transition| transition.source != Chart::ROOT);
    let handled = |transition: &Transition| {
        let event = transition.events.first().filter(|event| event.text != "*")?;
        Some(format!("{}.{}", chart.state(transition.source).name, event.text))
    };
    let handled: Vec<String> = inner.filter_map(handled).collect();
    let mut rng = Rng::new(!seed);
    let mut text = source + "properties:\n";
    for _ in 0..PROPERTIES {
        let [a, b, c] = [(); 3].map(|()| match rng.below(4) {
            0 if !handled.is_empty() => rng.pick(&handled).clone(),
            _ => rng.pick(&states).clone(),
        });
        let count = rng.below(3);
        _ = match rng.below(6) {
            0 => writeln!(text, "  - {{never: {a}, without: {b}, since: {c}}}"),
            1 => writeln!(text, "  - {{never: {a}, without: {b}}}"),
            2 => writeln!(text, "  - {{at_most: {count}, of: {a}, since: {b}}}"),
            3 => writeln!(text, "  - {{at_most: {count}, of: {a}}}"),
            4 => writeln!(text, "  - {{never: {a}}}"),
            _ => writeln!(text, "  - {{after: {a}, leads_to: {b}}}"),
        };
    }
    Some(text)
}

/// The chart of that text.
pub(crate) fn random_chart(seed: u64) -> Option<Arc<Chart>> {
    yaml::read(&text(seed)?).chart.map(Arc::new)
}

/// The progress of one property in one run.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    kind: PropertyKind,
    name: String,
    /// True if the required observation was seen, or if the promised one is still owed.
    flag: bool,
    count: u32,
}

impl Monitor {
    pub(crate) fn new(kind: PropertyKind, name: String) -> Self {
        Monitor { kind, name, flag: false, count: 0 }
    }

    /// Observes a step. Fails if the step breaks the property.
    pub(crate) fn see(&mut self, machine: &Machine, outcome: Option<&Moment>, step: &Step) -> Result<(), String> {
        let moments = step.trace.microsteps.iter().flat_map(|round| moments(machine, round));
        for moment in outcome.cloned().into_iter().chain(moments) {
            if self.is_broken_by(machine, &moment) {
                return Err(format!("`{}` is broken by {moment:?}", self.name));
            }
        }
        let is_owed = matches!(self.kind, PropertyKind::LeadsTo { .. }) && self.flag;
        if is_owed && step.state.is_done() {
            return Err(format!("`{}` is broken by the end", self.name));
        }
        Ok(())
    }

    fn is_broken_by(&mut self, machine: &Machine, moment: &Moment) -> bool {
        let sees = |observation: &Observation| observation.0.iter().any(|seen| moment.is(machine, seen));
        let sees_some = |observation: &Option<Observation>| observation.as_ref().is_some_and(sees);
        match &self.kind {
            PropertyKind::Never { what, without, since } => {
                self.flag |= sees_some(without);
                let is_broken = sees(what) && !(self.flag && without.is_some());
                self.flag &= !sees_some(since);
                is_broken
            }
            PropertyKind::AtMost { of, count, since } => {
                self.count += u32::from(sees(of));
                let is_broken = self.count > *count;
                if sees_some(since) {
                    self.count = 0;
                }
                is_broken
            }
            PropertyKind::LeadsTo { after, to } => {
                self.flag = (self.flag || sees(after)) && !sees(to);
                false
            }
            PropertyKind::Terminates | PropertyKind::Possible { .. } => false,
        }
    }
}

/// One observable moment of a run.
#[derive(Clone, Debug)]
pub(crate) enum Moment {
    /// An activity of the state ended with the signal.
    Signalled(interlock_chart::model::StateId, EventId),
    Entered(interlock_chart::model::StateId),
    Taken(interlock_chart::model::TransitionId, String),
}

impl Moment {
    fn is(&self, machine: &Machine, seen: &ObservedFact) -> bool {
        let chart = machine.chart();
        match (self, seen) {
            (Moment::Entered(state), ObservedFact::Entered(wanted)) => state == wanted,
            (Moment::Signalled(from, signal), ObservedFact::Signalled { state, event }) => {
                from == state && signal == event
            }
            (Moment::Taken(id, name), ObservedFact::Taken { source, event }) => {
                let from = chart.transition(*id).source;
                let is_there = |wanted| from == wanted || chart.is_descendant(from, wanted);
                source.is_none_or(is_there) && event.matches(name)
            }
            _ => false,
        }
    }
}

/// The outcome in an input, if its activity is still running and declares the signal.
pub(crate) fn outcome(machine: &Machine, state: &State, input: &Input) -> Option<Moment> {
    let Input::ActivityFinished { activity, ended: ActivityEnd::Signal { name, .. } } = input else { return None };
    let running = state.running.iter().find(|running| running.id == *activity)?;
    let invoke = machine.chart().invoke(running.invoke);
    let signal = invoke.signals.iter().find(|signal| *machine.event_name(signal.event) == **name)?;
    Some(Moment::Signalled(invoke.state, signal.event))
}

fn moments(machine: &Machine, round: &Microstep) -> Vec<Moment> {
    let name = round.event.as_ref().map(|key: &EventKey| key.name(machine).to_owned());
    let taken = round.taken.iter().filter_map(|taken| Some(Moment::Taken(taken.transition, name.clone()?)));
    taken.chain(round.entered.iter().map(|state| Moment::Entered(*state))).collect()
}
