//! Termination and bounds: small machines with exact numbers.

use crate::show;
use expect_test::{Expect, expect};

fn check(machine: &str, expected: Expect) {
    expected.assert_eq(&show::report(machine));
}

/// Twelve activities: six rounds of changing and testing. Thirty configurations: two states and three ends for each of
/// six counts.
#[test]
fn the_machine_of_the_readme_is_proved_with_its_exact_bound() {
    check(
        r#"
machine: fix-until-green
version: 1
input: { type: object, required: [goal], properties: { goal: { type: string } } }
events: { abort: { from: user } }
initial: changing
on:
  abort: { target: aborted }
  error: { target: failed }
  timeout: { target: failed }
states:
  changing:
    invoke: { activity: agent.prompt, with: { text: "${input.goal}" }, signals: [turn_ended] }
    timeout: 20m
    on: { turn_ended: { target: testing } }
  testing:
    invoke: { activity: command.run, signals: [passed, failed] }
    on:
      passed: { target: fixed }
      failed: [{ target: changing, limit: 5 }, { target: failed }]
  fixed: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
  aborted: { type: final, outcome: aborted }
properties:
  - terminates: true
  - never: fixed
    without: testing.passed
    since: changing
"#,
        expect![[r#"
            proved: 30 configurations
            between inputs: 12 transitions, 12 activities, 0 judgements
            whole run: 12 transitions, 12 activities, 0 judgements
            yes terminates
            yes never fixed without testing.passed since changing
        "#]],
    );
}

#[test]
fn a_loop_without_a_limit_is_reported_with_its_entry_and_cycle() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [next] }, on: { next: b, error: done } }
  b: { invoke: { activity: work, signals: [again, enough] }, on: { again: b, enough: done, error: done } }
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            not proved: 3 configurations
            between inputs: no bound
            whole run: no bound
            E0603 this loop has no limit, so the machine may never come to rest
               1. start        → a
               2. next (work)  → b
               3. again (work) → b
                  … and again from 3
        "#]],
    );
}

#[test]
fn the_same_loop_breaks_the_terminates_property() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [again] }, on: { again: a, error: done } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
"#,
        expect![[r#"
            not proved: 2 configurations
            between inputs: no bound
            whole run: no bound
            NO  terminates
               1. start        → a
               2. again (work) → a
                  … and again from 2
        "#]],
    );
}

/// First b, then c twice: seven activities, four of them judgements.
#[test]
fn a_ladder_of_limits_on_one_counter_counts_to_its_last_rung() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: judge, signals: [ok, bad] }, on: { ok: done, error: done, bad: [
    { target: b, limit: { counter: tries, max: 1 } }, { target: c, limit: { counter: tries, max: 3 } }, { target: done } ] } }
  b: { invoke: { activity: mend, signals: [mended] }, on: { mended: a, error: done } }
  c: { invoke: { activity: mend.well, signals: [mended] }, on: { mended: a, error: done } }
  done: { type: final, outcome: success }
properties:
  - at_most: 1
    of: b
  - at_most: 2
    of: c
"#,
        expect![[r#"
            proved: 11 configurations
            between inputs: 7 transitions, 7 activities, 4 judgements
            whole run: 7 transitions, 7 activities, 4 judgements
            yes at most 1 of b
            yes at most 2 of c
        "#]],
    );
}

#[test]
fn a_counter_reset_by_its_loop_does_not_end_it() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [bad] }, on: { error: done, bad: [{ target: b, limit: { counter: tries, max: 3 } }, { target: done }] } }
  b: { invoke: { activity: work, signals: [mended] }, on: { error: done, mended: { target: a, reset: tries } } }
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: no bound
            whole run: no bound
            E0603 this loop has no limit, so the machine may never come to rest
               1. start         → a
               2. bad (work)    → b
               3. mended (work) → a
               4. bad (work)    → b
                  … and again from 3
            W0605 this transition of `a` is never taken
        "#]],
    );
}

/// Four rounds of three times a and once b are sixteen activities.
#[test]
fn a_counter_reset_by_a_limited_outer_loop_is_bounded_by_the_product() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { error: done, bad: [{ target: a, limit: { counter: inner, max: 2 } }, { target: done }], ok: b } }
  b: { invoke: { activity: work, signals: [more, enough] }, on: { error: done, enough: done, more: [{ target: a, limit: { counter: outer, max: 3 }, reset: inner }, { target: done }] } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
"#,
        expect![[r#"
            proved: 36 configurations
            between inputs: 16 transitions, 16 activities, 0 judgements
            whole run: 16 transitions, 16 activities, 0 judgements
            yes terminates
        "#]],
    );
}

#[test]
fn a_loop_that_only_a_person_can_drive_is_a_wait() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, stop: { from: user } }
initial: a
on: { stop: done }
states:
  a: { on: { go: b } }
  b: { invoke: { activity: work, signals: [ok] }, on: { ok: a, error: a } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
"#,
        expect![[r#"
            proved: 3 configurations
            between inputs: 2 transitions, 1 activities, 0 judgements
            whole run: no bound
            waits in a
            yes terminates
        "#]],
    );
}

#[test]
fn a_loop_that_only_a_timer_drives_and_that_starts_nothing_is_a_wait() {
    check(
        r#"
machine: small
version: 1
events: { stop: { from: user } }
initial: a
states:
  a: { timeout: 1m, on: { timeout: b, stop: done } }
  b: { timeout: 1m, on: { timeout: a, stop: done } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
"#,
        expect![[r#"
            proved: 3 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 1 transitions, 0 activities, 0 judgements
            yes terminates
        "#]],
    );
}

#[test]
fn a_loop_of_timers_that_starts_an_activity_is_not_a_wait() {
    check(
        r#"
machine: small
version: 1
events: { stop: { from: user } }
initial: a
states:
  a: { timeout: 1m, on: { timeout: b, stop: done } }
  b: { timeout: 1m, invoke: { activity: poll, signals: [ready] }, on: { timeout: a, ready: done, error: done } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
"#,
        expect![[r#"
            not proved: 3 configurations
            between inputs: no bound
            whole run: no bound
            NO  terminates
               1. start             → a
               2. timeout.a (timer) → b
               3. timeout.b (timer) → a
                  … and again from 2
        "#]],
    );
}

/// The exact number is 200,001 activities: if a counter is left open, the bound is an upper bound.
#[test]
fn a_limit_too_large_to_enumerate_is_ranked() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { error: done, ok: done, bad: [{ target: b, limit: { counter: tries, max: 100000 } }, { target: done }] } }
  b: { invoke: { activity: work, signals: [mended] }, on: { mended: a, error: done } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
"#,
        expect![[r#"
            proved: 3 configurations, counters partly open
            between inputs: 200002 transitions, 200002 activities, 0 judgements
            whole run: 200002 transitions, 200002 activities, 0 judgements
            yes terminates
        "#]],
    );
}

/// Taken at most four times, and once more to the end; fewer times for other inputs.
#[test]
fn a_limit_set_by_the_input_counts_with_its_maximum() {
    check(
        r#"
machine: small
version: 1
input: { type: object, required: [tries], properties: { tries: { type: integer, minimum: 0, maximum: 4 } } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { error: done, ok: done, bad: [{ target: a, limit: { counter: tries, max: "${input.tries}" } }, { target: done }] } }
  done: { type: final, outcome: success }
properties:
  - terminates: true
  - at_most: 3
    of: .bad
"#,
        expect![[r#"
            not proved: 10 configurations
            between inputs: 5 transitions, 5 activities, 0 judgements
            whole run: 5 transitions, 5 activities, 0 judgements
            yes terminates
            NO  at most 3 of .bad
               1. start      → a
               2. bad (work) → a
               3. bad (work) → a
               4. bad (work) → a
               5. bad (work) → a
        "#]],
    );
}

#[test]
fn an_eventless_loop_in_a_macrostep_is_stopped_and_ends_the_run() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { always: { target: b } }
  b: { always: { target: a } }
"#,
        expect![[r#"
            proved: 1 configurations
            between inputs: 1000 transitions, 0 activities, 0 judgements
            whole run: 1000 transitions, 0 activities, 0 judgements
            W0607 a step of `small` may fail (no rest after 1000 rounds of one macrostep), and no transition handles `error.execution` there: the run then ends in failure
        "#]],
    );
}
