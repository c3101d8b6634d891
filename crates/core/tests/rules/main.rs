//! The engine's rules, one case each: a machine, a script, and what happens. How a script is written and what is told of a step
//! stands in `interlock_testkit::script`.

mod activities;
mod completion;
mod faults;
mod history;
mod limits;
mod moving;
mod origin;
mod queues;
mod selection;
mod standing;
mod timers;

use expect_test::Expect;
use interlock_testkit::script;

fn check(machine: &str, script: &str, expected: Expect) {
    expected.assert_eq(&script::run(machine, script));
}

/// The same for a run that is given something.
fn check_with(machine: &str, input: &str, script: &str, expected: Expect) {
    expected.assert_eq(&script::run_with(machine, input, script));
}
