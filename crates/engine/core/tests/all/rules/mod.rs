//! The engine's rules, one test case each: a machine, a script, and the expected steps. `interlock_testkit::script`
//! defines the syntax of a script and the printed form of a step.

mod activities;
mod completion;
mod faults;
mod history;
mod limits;
mod moving;
mod origin;
mod queues;
mod scxml;
mod selection;
mod standing;
mod timers;

use expect_test::Expect;
use interlock_testkit::script;

fn check(machine: &str, script: &str, expected: Expect) {
    expected.assert_eq(&script::run(machine, script));
}

/// Checks a run that starts with an input.
fn check_with(machine: &str, input: &str, script: &str, expected: Expect) {
    expected.assert_eq(&script::run_with(machine, input, script));
}
