//! What the checker claims of random machines holds in every run of them that was tried.
//!
//! The runs are the engine's own, with values that nobody chose well: small and huge numbers, texts where numbers are expected, fields
//! left out. Bounds are not passed, states called unreachable are not entered, transitions called dead are not taken, runs rest
//! only where they are said to, and no property that was proved is broken.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

mod claims;
mod outside;
mod properties;

use claims::{Claims, Told};
use interlock_checker::{Knowledge, Options, check};
use interlock_core::{Machine, State, step};
use interlock_testkit::random::Rng;

const MACHINES: u64 = 320;
const RUNS: u64 = 100;
const INPUTS: usize = 25;

/// Enough for most random machines. Of a larger one nothing is claimed.
const OPTIONS: Options =
    Options { configurations_max: 10_000, exact_max: 2_000, work_max: 60_000, data: Knowledge::Facts };

#[test]
fn nothing_that_was_proved_of_a_random_machine_is_refuted_by_a_run() {
    let mut told = Told::default();
    for seed in 0..MACHINES {
        let Some(chart) = properties::random_chart(seed) else { continue };
        let machine = Machine::new(chart.clone());
        let claims = Claims::of(&machine, check(chart, &OPTIONS));
        told.add(&claims);
        if claims.is_any() {
            (0..RUNS).for_each(|run| go(&machine, &claims, seed, run, &mut told));
        }
    }
    // What is claimed of few machines is tried on few: then this test would be worth nothing.
    assert!(told.is_enough(), "too little was claimed, or came close to what was claimed: {told:?}");
}

/// One run, watched.
fn go(machine: &Machine, claims: &Claims, seed: u64, run: u64, told: &mut Told) {
    let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(run));
    let mut state = State::ready(machine);
    let mut watch = claims.watch();
    for at in 0..INPUTS {
        let Some(input) = outside::input(&mut rng, machine, &state) else { break };
        let what = format!("{input:?}");
        let outcome = properties::outcome(machine, &state, &input);
        let done = step(machine, state, input.clone());
        if let Err(broken) = watch.see(machine, &input, outcome.as_ref(), &done) {
            let text = properties::text(seed).unwrap_or_default();
            panic!("seed {seed}, run {run}, input {at} ({what}): {broken}\n{}\n{text}", claims.report);
        }
        state = done.state;
    }
    watch.tell(told);
}
