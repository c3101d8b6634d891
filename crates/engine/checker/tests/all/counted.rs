//! If nothing is unknown, the checker counts exactly the configurations that a naive exploration with the engine finds.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use interlock_chart::{Chart, Value, model::Raiser};
use interlock_checker::{Options, check};
use interlock_core::{ActivityEnd, Input, Machine, Semantics, State, Status, Step, step};
use interlock_testkit::random;

const MACHINES: u64 = 150;

/// A machine that never comes to rest takes a thousand rounds per step, so a few such steps are enough.
const ROUNDS_MAX: usize = 20_000;

/// Everything that may happen to a run now from outside, as the checker defines it.
fn inputs(machine: &Machine, state: &State) -> Vec<Input> {
    if state.status == Status::Ready {
        return vec![Input::Started { session: "s".into(), input: Value::empty(), semantics: Semantics::CURRENT }];
    }
    let chart = machine.chart();
    let mut inputs = Vec::new();
    for running in &state.running {
        for signal in &chart.invoke(running.invoke).signals {
            let ended = ActivityEnd::Signal { name: machine.event_name(signal.event).into(), data: Value::empty() };
            inputs.push(Input::ActivityFinished { activity: running.id, ended });
        }
        let data = Value::map([("code", "E".into()), ("message", "m".into())]);
        inputs.push(Input::ActivityFinished { activity: running.id, ended: ActivityEnd::Error { data } });
    }
    inputs.extend(state.pending.iter().map(|pending| Input::TimerFired { timer: pending.id }));
    let from_outside = |from| matches!(from, Raiser::User | Raiser::Run | Raiser::Timer | Raiser::Any);
    for event in chart.events.iter().filter(|event| event.declared && from_outside(event.from)) {
        inputs.push(Input::EventRaised { event: event.name.as_str().into(), data: Value::empty(), by: event.from });
    }
    inputs
}

/// Everything that decides what a run can do next, without ids.
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

/// Counts the configurations without any code of the checker; `None` if there are too many.
fn counted_naively(machine: &Machine, most: usize) -> Option<usize> {
    let mut rounds_left = ROUNDS_MAX;
    let mut queue = VecDeque::from([State::ready(machine)]);
    let mut seen = BTreeSet::new();
    while let Some(state) = queue.pop_front() {
        for input in inputs(machine, &state) {
            let Step { state: next, trace, .. } = step(machine, state.clone(), input);
            rounds_left = rounds_left.checked_sub(trace.microsteps.len())?;
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

/// Removes the data from a machine: no guards, no reasons, no conditions, no assignments, no delayed events.
fn without_data(mut chart: Chart) -> Chart {
    for transition in &mut chart.transitions {
        (transition.guard, transition.reason) = (None, None);
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
fn without_unknowns_a_naive_exploration_finds_the_same_count() {
    let mut compared = 0;
    for seed in 0..MACHINES {
        let Some(machine) = random::machine(seed) else { continue };
        let chart = Arc::new(without_data(machine.chart().clone()));
        let machine = Machine::new(chart.clone());
        let Some(naively) = counted_naively(&machine, 1_500) else { continue };
        let report = check(chart, &Options::default());
        assert_eq!(report.explored, naively, "seed {seed}:\n{}", random::machine_text(seed));
        compared += 1;
    }
    assert!(compared > 20, "only {compared} machines were small enough to compare");
}
