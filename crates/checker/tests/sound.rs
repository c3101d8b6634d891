//! What was proved holds in every run: random machines and the built-in ones, moved at random by the engine itself.
//!
//! Two things are tried. Where nothing is unknown, the configurations counted are exactly those that a naive exploration finds. Where data is
//! unknown, no concrete run enters a state reported unreachable, takes a transition reported as never taken, or does more between two inputs
//! than the bound says.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

mod show;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use interlock_chart::{Chart, Value, model::Raiser};
use interlock_checker::{Options, Report, check};
use interlock_core::{Ended, Input, Machine, State, Status, step};
use interlock_testkit::random::{self, Rng};

const MACHINES: u64 = 40;
const RUNS: u64 = 6;
const STEPS: usize = 60;

/// Everything the outside may do to a run now, as the checker understands it.
fn inputs(machine: &Machine, state: &State) -> Vec<Input> {
    if state.status == Status::Ready {
        return vec![Input::Started { session: "s".into(), input: Value::empty() }];
    }
    let chart = machine.chart();
    let mut inputs = Vec::new();
    for running in &state.running {
        for signal in &chart.invoke(running.invoke).signals {
            let ended = Ended::Signal { name: machine.event_name(signal.event).into(), data: Value::empty() };
            inputs.push(Input::ActivityFinished { activity: running.id, ended });
        }
        let data = Value::map([("code", "E".into()), ("message", "m".into())]);
        inputs.push(Input::ActivityFinished { activity: running.id, ended: Ended::Error { data } });
    }
    inputs.extend(state.pending.iter().map(|pending| Input::TimerFired { timer: pending.id }));
    let from_outside = |from| matches!(from, Raiser::User | Raiser::Run | Raiser::Timer | Raiser::Any);
    for event in chart.events.iter().filter(|event| event.declared && from_outside(event.from)) {
        inputs.push(Input::EventRaised { event: event.name.as_str().into(), data: Value::empty(), by: event.from });
    }
    inputs
}

/// Everything that decides what a run can do next, ids left out.
fn key(machine: &Machine, state: &State) -> String {
    let mut running: Vec<_> = state.running.iter().map(|running| running.invoke).collect();
    running.sort_unstable();
    let name = |pending: &interlock_core::Pending<Value>| (pending.state, pending.event.key.name(machine).to_owned());
    let mut pending: Vec<_> = state.pending.iter().map(name).collect();
    pending.sort_unstable();
    let status = matches!(state.status, Status::Done { .. });
    let active: Vec<_> = state.configuration.iter().collect();
    let history: Vec<Vec<_>> = state.history.iter().map(|set| set.iter().collect()).collect();
    format!("{status} {active:?} {history:?} {:?} {running:?} {pending:?}", state.counters)
}

/// The number of configurations, found without any of the checker's means.
fn counted_naively(machine: &Machine, most: usize) -> Option<usize> {
    let mut queue = VecDeque::from([State::ready(machine)]);
    let mut seen = BTreeSet::new();
    while let Some(state) = queue.pop_front() {
        for input in inputs(machine, &state) {
            let next = step(machine, state.clone(), input).state;
            if seen.insert(key(machine, &next)) {
                queue.push_back(next);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(seen.len())
}

/// The machine without data: no guards, no conditions, no assignments, no delayed events.
fn without_data(mut chart: Chart) -> Chart {
    for transition in &mut chart.transitions {
        transition.guard = None;
        transition.actions.retain(is_control);
    }
    for state in &mut chart.states {
        state.data = None;
        state.entry.iter_mut().chain(&mut state.exit).for_each(|block| block.retain(is_control));
        state.initial.iter_mut().for_each(|initial| initial.actions.retain(is_control));
    }
    for invoke in &mut chart.invokes {
        invoke.with = interlock_chart::model::Template::empty();
    }
    chart
}

fn is_control(action: &interlock_chart::model::Action) -> bool {
    matches!(action, interlock_chart::model::Action::Raise { data: interlock_chart::model::Template::Literal(_), .. })
}

#[test]
fn where_nothing_is_unknown_a_naive_exploration_finds_exactly_as_many_configurations() {
    let mut compared = 0;
    for seed in 0..MACHINES {
        let Some(machine) = random::machine(seed) else { continue };
        let chart = Arc::new(without_data(machine.chart().clone()));
        let machine = Machine::new(chart.clone());
        let Some(naively) = counted_naively(&machine, 1_500) else { continue };
        let report = check(chart, &Options { configurations_max: 20_000, exact_max: 5_000, ..Options::default() });
        assert_eq!(report.explored, naively, "seed {seed}:\n{}", random::machine_text(seed));
        compared += 1;
    }
    assert!(compared > 20, "only {compared} machines were small enough: that compares nothing");
}

/// What a concrete run did since somebody outside or a timer last moved it.
#[derive(Default)]
struct Done {
    transitions: u64,
    activities: u64,
}

fn hold(machine: &Machine, report: &Report, seed: u64) {
    let chart = machine.chart();
    let unreachable: Vec<&str> = chart
        .states
        .iter()
        .map(|state| state.name.as_str())
        .filter(|name| {
            report.problems.iter().any(|problem| problem.message == format!("state `{name}` can never be reached"))
        })
        .collect();
    let idle = report.problems.iter().filter(|problem| problem.code == "W0605").map(|problem| problem.span);
    let idle: Vec<_> = idle.collect();
    let mut rng = Rng::new(seed);
    let (mut state, mut done) = (State::ready(machine), Done::default());
    for _ in 0..STEPS {
        if state.is_done() {
            break;
        }
        let input = random::input(&mut rng, machine, &state);
        if matches!(input, Input::Paused | Input::Resumed) {
            continue;
        }
        if !matches!(input, Input::ActivityFinished { .. }) {
            done = Done::default();
        }
        let after = step(machine, state, input);
        for microstep in &after.trace.microsteps {
            done.transitions += microstep.taken.len() as u64;
            done.activities += microstep.started.len() as u64;
            for entered in &microstep.entered {
                let name = chart.state(*entered).name.as_str();
                assert!(!unreachable.contains(&name), "seed {seed}: `{name}` was entered");
            }
            for taken in &microstep.taken {
                let span = chart.transition(taken.transition).span;
                assert!(
                    !idle.contains(&span),
                    "seed {seed}: a transition of {} was taken",
                    chart.state(chart.transition(taken.transition).source).name
                );
            }
        }
        if let Some(bound) = report.bound {
            assert!(done.transitions <= bound.transitions, "seed {seed}: {} > {bound:?}", done.transitions);
            assert!(done.activities <= bound.activities, "seed {seed}: {} > {bound:?}", done.activities);
        }
        state = after.state;
    }
}

#[test]
fn no_concrete_run_does_what_was_proved_impossible() {
    let options = Options { configurations_max: 3_000, exact_max: 3_000, ..Options::default() };
    let mut proved = 0;
    for seed in 0..MACHINES {
        let Some(machine) = random::machine(seed) else { continue };
        let report = check(Arc::new(machine.chart().clone()), &options);
        if report.problems.iter().any(|problem| problem.code == "E0604") {
            continue;
        }
        proved += 1;
        (0..RUNS).for_each(|run| hold(&machine, &report, seed * 1_000 + run));
    }
    assert!(proved > 10, "only {proved} machines could be explored: that tries nothing");
}
