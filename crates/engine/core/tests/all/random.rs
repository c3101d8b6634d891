//! Random machines and random inputs: nothing panics, every configuration is legal, a replay gives the same steps as
//! the live run, and a stored state equals the original.

use interlock_chart::{
    Chart,
    model::{Kind, StateId},
};
use interlock_core::{Input, Machine, Snapshot, State, StateSet, Status, Step, step};
use interlock_testkit::random::{self, Rng};
use proptest::{prelude::*, test_runner::RngSeed};

const INPUTS: usize = 40;

/// Performs a random run and returns its inputs with the resulting steps.
fn live(machine: &Machine, seed: u64) -> Vec<(Input, Step)> {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let mut steps: Vec<(Input, Step)> = Vec::new();
    for _ in 0..INPUTS {
        let state = steps.last().map_or_else(|| State::ready(machine), |(_, step)| step.state.clone());
        let input = random::input(&mut rng, machine, &state);
        steps.push((input.clone(), step(machine, state, input)));
    }
    steps
}

/// Checks that an active compound state has exactly one active child, a parallel state has all of them, no history
/// state is active, and every active state has an active parent.
fn is_legal(chart: &Chart, configuration: &StateSet) -> bool {
    let active = |id: &&StateId| configuration.contains(**id);
    let is_right = |id: StateId| {
        let state = chart.state(id);
        let plain = || state.children.iter().filter(|&&child| !chart.state(child).kind.is_history());
        let below = match state.kind {
            Kind::Compound => plain().filter(active).count() == 1,
            Kind::Parallel => plain().all(|child| configuration.contains(*child)),
            Kind::Atomic | Kind::Final => true,
            Kind::ShallowHistory | Kind::DeepHistory => false,
        };
        below && state.parent.is_none_or(|parent| configuration.contains(parent))
    };
    configuration.contains(Chart::ROOT) && configuration.iter().all(is_right)
}

fn stored(machine: &Machine, state: &State) -> State {
    let json = serde_json::to_string(&state.snapshot(machine)).unwrap();
    let snapshot: Snapshot = serde_json::from_str(&json).unwrap();
    snapshot.restore(machine).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn configurations_are_legal_and_counters_stay_within_their_limits(seed in any::<u64>()) {
        let Some(machine) = random::machine(seed) else { return Ok(()) };
        let chart = machine.chart();
        for (input, step) in live(&machine, seed) {
            let state = &step.state;
            let text = || format!("{}\n{input:?}\n{:?}", random::machine_text(seed), state.places(&machine));
            prop_assert!(state.status == Status::Ready || is_legal(chart, &state.configuration), "{}", text());
            let within = chart.counters.iter().zip(&state.counters).all(|(counter, count)| *count <= counter.max);
            prop_assert!(within, "{:?}\n{}", state.counters, text());
            let is_running = |at: StateId| state.configuration.contains(at) && !state.is_done();
            let has_owner = state.running.iter().all(|running| is_running(chart.invoke(running.invoke).state))
                && state.pending.iter().all(|pending| pending.state.is_none_or(is_running));
            prop_assert!(has_owner, "{}", text());
        }
    }

    #[test]
    fn replay_equals_the_live_run(seed in any::<u64>()) {
        let Some(machine) = random::machine(seed) else { return Ok(()) };
        let again = random::machine(seed).unwrap();
        let mut state = State::ready(&again);
        for (input, live) in live(&machine, seed) {
            let replayed = step(&again, state, input);
            prop_assert_eq!(&replayed, &live, "{}", random::machine_text(seed));
            state = replayed.state;
        }
    }

    #[test]
    fn stored_state_equals_the_original_and_continues_like_it(seed in any::<u64>()) {
        let Some(machine) = random::machine(seed) else { return Ok(()) };
        let mut state = State::ready(&machine);
        for (input, live) in live(&machine, seed) {
            prop_assert_eq!(&stored(&machine, &state), &state, "{}", random::machine_text(seed));
            let next = step(&machine, stored(&machine, &state), input);
            prop_assert_eq!(&next, &live, "{}", random::machine_text(seed));
            state = next.state;
        }
    }
}

#[test]
fn most_random_machines_are_valid_and_use_every_feature() {
    let machines: Vec<Machine> = (0..200).filter_map(random::machine).collect();
    assert!(machines.len() > 100, "only {} of 200 can be read", machines.len());
    let has = |what: fn(&Chart) -> bool| machines.iter().filter(|machine| what(machine.chart())).count() > 20;
    assert!(has(|chart| chart.states.iter().any(|state| state.kind == Kind::Parallel)), "parallel states");
    assert!(has(|chart| chart.states.iter().any(|state| state.kind == Kind::DeepHistory)), "deep history");
    assert!(has(|chart| chart.states.iter().any(|state| state.kind == Kind::ShallowHistory)), "shallow history");
    assert!(has(|chart| !chart.invokes.is_empty()), "activities");
    assert!(has(|chart| !chart.counters.is_empty()), "limits");
    assert!(has(|chart| chart.transitions.iter().any(|one| one.events.is_empty())), "eventless transitions");
}
