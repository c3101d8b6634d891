//! Compares the engine and the checker with a reference that was written from the rules and shares no code with them.
//!
//! Random machines have nested parallel regions, activities with signals of the same names, timeouts, and handlers
//! under plain and qualified names. On random walks, the engine must take the same transitions as the reference. The
//! checker must find exactly the configurations and the verdicts that the reference finds by trying everything. A
//! failure prints the seed and the machine.

mod rules;
mod write;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use interlock_chart::{Chart, Value, model::Raiser, yaml};
use interlock_checker::{Options, check, size};
use interlock_core::{ActivityEnd, Input, Machine, Semantics, State, Status, step};
use interlock_testkit::random::Rng;
use rules::{Happening, Luck, Outcome, Place, Rules};

const MACHINES: u64 = 400;
const STEPS: usize = 40;

fn chart(seed: u64) -> Chart {
    let text = write::machine(&mut Rng::new(seed));
    // Machines that the reader objects to (a signal without a handler) follow the same rules.
    yaml::read_again(&text, &[]).unwrap_or_else(|| panic!("seed {seed} cannot be read:\n{text}"))
}

/// Converts a happening into an input of the engine.
fn input(machine: &Machine, state: &State, happening: &Happening) -> Input {
    let chart = machine.chart();
    let running = |invoke: usize| state.running.iter().find(|running| running.invoke.index() == invoke).unwrap().id;
    match happening {
        Happening::Signal(invoke, name) => Input::ActivityFinished {
            activity: running(*invoke),
            ended: ActivityEnd::Signal { name: name.as_str().into(), data: Value::empty() },
        },
        Happening::Error(invoke) => {
            Input::ActivityFinished { activity: running(*invoke), ended: ActivityEnd::Error { data: Value::empty() } }
        }
        Happening::Timeout(at) => {
            let is_it = |state: &interlock_chart::model::StateId| state.index() == *at;
            let timer = state.pending.iter().find(|pending| pending.state.as_ref().is_some_and(is_it)).unwrap().id;
            Input::TimerFired { timer }
        }
        Happening::Event(name) => {
            assert!(chart.find_event(name).is_some());
            Input::EventRaised { event: name.as_str().into(), data: Value::empty(), by: Raiser::Any }
        }
    }
}

/// Converts the engine's state into the form of the reference.
fn place(state: &State) -> Place {
    Place {
        active: state.configuration.iter().map(|id| id.index()).collect(),
        running: state.running.iter().map(|running| running.invoke.index()).collect(),
        timed: state.pending.iter().filter_map(|pending| pending.state).map(|id| id.index()).collect(),
        is_done: state.status != Status::Running,
    }
}

#[test]
fn the_engine_takes_the_transitions_that_the_rules_select() {
    let (mut scoped, mut crossed, mut together, mut faulted) = (0, 0, 0, [0, 0]);
    for seed in 0..MACHINES {
        let machine = Machine::new(Arc::new(chart(seed)));
        let rules = Rules::of(machine.chart());
        let mut rng = Rng::new(seed ^ 0x0b5e);
        let start = Input::Started { session: "s".into(), input: Value::empty(), semantics: Semantics::CURRENT };
        let mut state = step(&machine, State::ready(&machine), start).state;
        assert_eq!(place(&state), rules.start(), "seed {seed}\n{}", write::machine(&mut Rng::new(seed)));
        for _ in 0..STEPS {
            let happenings = rules.happenings(&place(&state));
            if happenings.is_empty() {
                break;
            }
            let happening = rng.pick(&happenings);
            // No event has data, so every guard that may fail does.
            let luck = Luck { fails: rules.frail().into_iter().collect(), holds: false };
            let expected = rules.step(&place(&state), happening, &luck, &luck);
            let step = step(&machine, state.clone(), input(&machine, &state, happening));
            let taken: Vec<usize> = step.trace.microsteps[0].taken.iter().map(|one| one.transition.index()).collect();
            let text = || {
                format!(
                    "seed {seed}, {happening:?} in {:?}\n{}",
                    state.places(&machine),
                    write::machine(&mut Rng::new(seed))
                )
            };
            assert_eq!(taken, expected.taken, "{}", text());
            assert_eq!(place(&step.state), expected.place, "{}", text());
            faulted[usize::from(expected.place.is_done)] += usize::from(expected.is_fault);
            scoped += usize::from(!matches!(happening, Happening::Event(_)) && !taken.is_empty());
            crossed += usize::from(rules.crosses(&taken, happening));
            together += usize::from(taken.len() > 1);
            state = step.state;
        }
    }
    assert!(scoped > 1_000 && crossed > 50 && together > 50, "{scoped} scoped, {crossed} crossed, {together} together");
    assert!(faulted[0] > 20 && faulted[1] > 20, "faults handled and not: {faulted:?}");
}

/// Every way in which the guards that may fail are answered while one event is handled.
fn lucks(rules: &Rules<'_>) -> Vec<Luck> {
    let frail = rules.frail();
    let fails = |bits: usize| -> BTreeSet<usize> {
        frail.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0).map(|(_, id)| *id).collect()
    };
    let answers: &[bool] = if frail.is_empty() { &[false] } else { &[true, false] };
    let each = |bits: usize| answers.iter().map(move |holds| (bits, *holds));
    (0..1 << frail.len()).flat_map(each).map(|(bits, holds)| Luck { fails: fails(bits), holds }).collect()
}

/// Every result of a happening. The answers for the fault matter only if there is one.
fn outcomes(rules: &Rules<'_>, place: &Place, happening: &Happening, lucks: &[Luck]) -> Vec<Outcome> {
    let mut all = Vec::new();
    for first in lucks {
        let outcome = rules.step(place, happening, first, &Luck::default());
        match outcome.is_fault {
            true => all.extend(lucks.iter().map(|second| rules.step(place, happening, first, second))),
            false => all.push(outcome),
        }
    }
    all
}

/// Counts everything that can be reached; the flag is true if `target` can be entered with no `state.passed` before it.
fn explored(rules: &Rules<'_>, target: usize, origin: usize) -> (usize, bool) {
    let (first, lucks) = ((rules.start(), false), lucks(rules));
    let mut is_broken = first.0.active.contains(&target);
    let mut seen = BTreeSet::from([first.clone()]);
    let mut queue = VecDeque::from([first]);
    while let Some((place, has_passed)) = queue.pop_front() {
        for happening in rules.happenings(&place) {
            let has_passed = has_passed || rules.is_outcome(&happening, origin, "passed");
            for Outcome { entered, place, .. } in outcomes(rules, &place, &happening, &lucks) {
                is_broken |= !has_passed && entered.contains(&target);
                let next = (place, has_passed);
                if seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
    }
    let places: BTreeSet<&Place> = seen.iter().map(|(place, _)| place).collect();
    (places.len(), is_broken)
}

#[test]
fn the_checker_agrees_with_an_exhaustive_search() {
    let (mut broken, mut kept) = (0, 0);
    for seed in 0..MACHINES {
        let chart = chart(seed);
        let Some((target, origin)) = write::property(&chart) else { continue };
        let rules = Rules::of(&chart);
        // Two guards that may fail multiply the ways of every event.
        if rules.frail().len() > 1 {
            continue;
        }
        let (places, is_broken) = explored(&rules, target, origin);
        let text = || format!("seed {seed}\n{}", write::machine(&mut Rng::new(seed)));
        let found = size(Arc::new(chart.clone()), &Options::default());
        assert!(found.is_complete, "{}", text());
        assert_eq!(found.configurations, places, "{}", text());
        let report = check(Arc::new(chart.clone()), &Options::default());
        assert_eq!(report.properties[0].ok, !is_broken, "{}", text());
        *(if is_broken { &mut broken } else { &mut kept }) += 1;
    }
    assert!(broken > 30 && kept > 30, "{broken} broken, {kept} kept");
}
