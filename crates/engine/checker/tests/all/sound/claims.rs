//! The claims of a report, and a check that a run keeps to them.

use std::collections::BTreeSet;

use interlock_chart::model::{Dialect, Kind, Outcome};
use interlock_checker::{Bound, Report};
use interlock_core::{Effect, Input, Machine, Status, Step, TakenTransition};

use super::properties::{Moment, Monitor};

/// The claims about one machine.
pub(crate) struct Claims {
    pub(crate) report: String,
    bound: Option<Bound>,
    run_bound: Option<Bound>,
    unreachable: BTreeSet<String>,
    dead: BTreeSet<usize>,
    /// The states in which runs rest; `None` if not everything was explored.
    waits: Option<BTreeSet<String>>,
    monitors: Vec<Monitor>,
}

impl Claims {
    pub(crate) fn of(machine: &Machine, report: Report) -> Self {
        let problems = |code: &'static str| report.problems.iter().filter(move |problem| problem.code == code);
        let name = |message: &str| message.split('`').nth(1).unwrap_or_default().to_owned();
        let is_complete = problems("E0604").next().is_none();
        let transitions = machine.chart().transitions.iter();
        let is_dead = |span| problems("W0605").any(|problem| problem.span == span);
        let proved = machine.chart().properties.iter().zip(&report.properties).filter(|(_, proof)| proof.ok);
        Claims {
            bound: report.bound,
            run_bound: report.run_bound,
            unreachable: problems("E0601").map(|problem| name(&problem.message)).collect(),
            dead: transitions.filter(|one| is_dead(one.span)).map(|one| one.id.index()).collect(),
            waits: is_complete.then(|| report.waits.iter().cloned().collect()),
            monitors: proved.map(|(property, _)| Monitor::new(property.kind.clone(), property.name.clone())).collect(),
            report: format!("bound {:?}, run {:?}, waits {:?}", report.bound, report.run_bound, report.waits),
        }
    }

    /// Returns true if there is a claim to check a run against.
    pub(crate) fn is_any(&self) -> bool {
        self.waits.is_some() || !self.monitors.is_empty()
    }

    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { claims: self, monitors: self.monitors.clone(), since_input: NOTHING, in_all: NOTHING, most: NOTHING }
    }
}

const NOTHING: Bound = Bound { transitions: 0, activities: 0, judgements: 0 };

/// One run, checked against the claims.
pub(crate) struct Watch<'c> {
    claims: &'c Claims,
    monitors: Vec<Monitor>,
    since_input: Bound,
    in_all: Bound,
    most: Bound,
}

impl Watch<'_> {
    pub(crate) fn see(
        &mut self,
        machine: &Machine,
        input: &Input,
        outcome: Option<&Moment>,
        step: &Step,
    ) -> Result<(), String> {
        self.count(machine, input, step)?;
        self.visit(machine, step)?;
        ends_truly(machine, step)?;
        self.monitors.iter_mut().try_for_each(|monitor| monitor.see(machine, outcome, step))
    }

    fn count(&mut self, machine: &Machine, input: &Input, step: &Step) -> Result<(), String> {
        let work = work(machine, step);
        // A timer that starts nothing may be a clock that ticks for ever: a wait, which is not counted.
        let may_be_tick = matches!(input, Input::TimerFired { .. }) && work.activities == 0;
        let is_outside = matches!(input, Input::EventRaised { .. });
        self.since_input = if may_be_tick || is_outside { work } else { plus(self.since_input, work) };
        if !may_be_tick {
            self.in_all = plus(self.in_all, work);
        }
        self.most = Bound {
            transitions: self.most.transitions.max(self.since_input.transitions),
            activities: self.most.activities.max(self.since_input.activities),
            judgements: self.most.judgements.max(self.since_input.judgements),
        };
        keeps(self.since_input, self.claims.bound, "between two inputs")?;
        keeps(self.in_all, self.claims.run_bound, "in the whole run")
    }

    fn visit(&self, machine: &Machine, step: &Step) -> Result<(), String> {
        let name = |state| machine.chart().state(state).name.clone();
        let entered = step.trace.microsteps.iter().flat_map(|round| &round.entered);
        if let Some(name) = entered.map(|state| name(*state)).find(|name| self.claims.unreachable.contains(name)) {
            return Err(format!("`{name}` was entered"));
        }
        if let Some(id) = step.trace.transitions().find(|id| self.claims.dead.contains(&id.index())) {
            return Err(format!("the transition {id:?} was taken"));
        }
        let rests = !step.state.is_done() && step.state.running.is_empty() && step.state.pending.is_empty();
        let is_final =
            |name: &str| machine.chart().states.iter().any(|one| one.name == name && one.kind == Kind::Final);
        let places: Vec<_> = step.state.places(machine).into_iter().filter(|name| !is_final(name)).collect();
        match (&self.claims.waits, rests) {
            (Some(waits), true) if !places.iter().all(|place| waits.contains(*place)) => {
                Err(format!("the run rests in {places:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Adds the results of this run to the statistics.
    pub(crate) fn tell(&self, told: &mut Evaluation) {
        let is_reached = |bound: Bound| bound.transitions > 1 && bound.transitions == self.most.transitions;
        told.tight += u64::from(self.claims.bound.is_some_and(is_reached));
    }
}

/// After a fault that no transition has handled by its name, a run does not end otherwise than in failure.
fn ends_truly(machine: &Machine, step: &Step) -> Result<(), String> {
    let Status::Done { outcome } = step.state.status else { return Ok(()) };
    let mut is_open = false;
    for round in &step.trace.microsteps {
        let event = round.event.as_ref().map(|event| event.name(machine));
        let names = |one: &TakenTransition| {
            let events = &machine.chart().transition(one.transition).events;
            events.iter().any(|event| event.text.contains("error"))
        };
        is_open &= !(event == Some("error.execution") && round.taken.iter().any(names));
        is_open |= !round.faults.is_empty();
    }
    let is_native = machine.chart().dialect == Dialect::Native;
    match is_native && is_open && outcome != Some(Outcome::Failure) {
        true => Err(format!("the run ends as {outcome:?} after a fault")),
        false => Ok(()),
    }
}

fn work(machine: &Machine, step: &Step) -> Bound {
    let mut work = Bound { transitions: step.trace.transitions().count() as u64, ..NOTHING };
    for effect in &step.effects {
        if let Effect::StartActivity { invoke, .. } = effect {
            work.activities += 1;
            work.judgements += u64::from(machine.chart().invoke(*invoke).activity.starts_with("judge"));
        }
    }
    work
}

fn plus(a: Bound, b: Bound) -> Bound {
    Bound {
        transitions: a.transitions + b.transitions,
        activities: a.activities + b.activities,
        judgements: a.judgements + b.judgements,
    }
}

fn keeps(done: Bound, most: Option<Bound>, when: &str) -> Result<(), String> {
    let passes = |most: Bound| {
        done.transitions > most.transitions || done.activities > most.activities || done.judgements > most.judgements
    };
    if most.is_some_and(passes) { Err(format!("{done:?} {when}")) } else { Ok(()) }
}

/// The number of claims and the closeness of runs to them, over all machines.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    machines: u64,
    bounded: u64,
    run_bounded: u64,
    unreachable: usize,
    dead: usize,
    proved: usize,
    /// Runs that did as much between two inputs as the bound allows.
    tight: u64,
}

impl Evaluation {
    pub(crate) fn add(&mut self, claims: &Claims) {
        self.machines += 1;
        self.bounded += u64::from(claims.bound.is_some());
        self.run_bounded += u64::from(claims.run_bound.is_some());
        self.unreachable += claims.unreachable.len();
        self.dead += claims.dead.len();
        self.proved += claims.monitors.len();
    }

    pub(crate) fn is_enough(&self) -> bool {
        self.machines >= 250
            && self.bounded >= 50
            && self.run_bounded >= 25
            && self.unreachable >= 50
            && self.dead >= 200
            && self.proved >= 200
            && self.tight >= 20
    }
}
