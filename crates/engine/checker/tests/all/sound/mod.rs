//! The checker's claims about random machines hold in every run of them that was tried.
//!
//! The runs use the engine, with unfavourable values: small and huge numbers, texts instead of numbers, missing fields.
//! Bounds are not exceeded, states reported as unreachable are not entered, transitions reported as dead are not taken,
//! runs rest only in the reported states, and no proved property is broken.

mod claims;
mod outside;
mod properties;

use claims::{Claims, Evaluation};
use interlock_checker::{Knowledge, Options, check};
use interlock_core::{Machine, State, step};
use interlock_testkit::random::Rng;

const MACHINES: u64 = 320;
const RUNS: u64 = 100;
const INPUTS: usize = 25;

/// Enough for most random machines. No claims are made about larger ones.
const OPTIONS: Options =
    Options { configurations_max: 10_000, exact_max: 2_000, work_max: 60_000, data: Knowledge::Facts };

#[test]
fn no_proved_claim_about_a_random_machine_is_refuted_by_a_run() {
    let mut told = Evaluation::default();
    for seed in 0..MACHINES {
        let Some(chart) = properties::random_chart(seed) else { continue };
        let machine = Machine::new(chart.clone());
        let claims = Claims::of(&machine, check(chart, &OPTIONS));
        told.add(&claims);
        if claims.is_any() {
            (0..RUNS).for_each(|run| go(&machine, &claims, seed, run, &mut told));
        }
    }
    // If few machines had claims, few claims would be tried, and this test would prove nothing.
    assert!(told.is_enough(), "too few claims were made, or too few runs came close to them: {told:?}");
}

/// Performs one run and watches it.
fn go(machine: &Machine, claims: &Claims, seed: u64, run: u64, told: &mut Evaluation) {
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
