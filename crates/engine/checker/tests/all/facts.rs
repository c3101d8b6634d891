//! The checker's knowledge about data: consistent while nothing changes, open if something may have changed.

use crate::show;
use expect_test::{Expect, expect};

fn check(machine: &str, expected: Expect) {
    expected.assert_eq(&show::report(machine));
}

#[test]
fn a_fact_about_the_input_is_the_same_everywhere() {
    check(
        r#"
machine: small
version: 1
input: { type: object, required: [fast], properties: { fast: { type: boolean } } }
events: { go: { from: user } }
initial: a
states:
  a: { on: { go: [{ target: b, guard: input.fast }, { target: c }] } }
  b: { on: { go: [{ target: done, guard: input.fast }, { target: wrong }] } }
  c: { on: { go: [{ target: wrong, guard: input.fast }, { target: done }] } }
  wrong: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
"#,
        expect![[r#"
            not proved: 5 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in a, b, c
            yes never wrong
            E0601 state `wrong` can never be reached
            W0605 this transition of `b` is never taken
            W0605 this transition of `c` is never taken
        "#]],
    );
}

/// A value above three is also above two: only a new assignment leads to `wrong`.
#[test]
fn a_fact_about_the_context_holds_until_it_is_assigned() {
    check(
        r#"
machine: small
version: 1
context: { level: 0 }
events: { go: { from: user }, set: { from: user, data: { required: [level], properties: { level: { type: integer } } } } }
on: { set: { assign: { level: "${event.level}" } } }
initial: a
states:
  a: { on: { go: [{ target: b, guard: context.level > 3 }, { target: done }] } }
  b: { on: { go: [{ target: done, guard: context.level > 2 }, { target: wrong }], set: { assign: { level: "${event.level}" } } } }
  wrong: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
  - never: wrong
    without: .set
"#,
        expect![[r#"
            not proved: 9 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: no bound
            waits in a, b
            NO  never wrong
               1. start      → a
               2. set (user) → a
               3. go (user)  → b
               4. set (user) → b
               5. go (user)  → wrong
            yes never wrong without .set
        "#]],
    );
}

/// The value stays the same later on. The copy into the context loses the fact that the list of values was complete.
#[test]
fn a_value_copied_from_an_event_stays_the_same() {
    check(
        r#"
machine: small
version: 1
context: { verdict: none }
events: { go: { from: user } }
initial: a
states:
  a: { invoke: { activity: judge, signals: { verdict: { required: [is], properties: { is: { type: string, enum: [good, bad] } } } } }, on: { error: done, verdict: { target: b, assign: { verdict: "${event.is}" } } } }
  b: { always: [{ target: good, guard: "context.verdict == 'good'" }, { target: bad, guard: "context.verdict == 'bad'" }, { target: wrong }] }
  good: { on: { go: done } }
  bad: { on: { go: [{ target: wrong, guard: "context.verdict == 'good'" }, { target: done }] } }
  wrong: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
"#,
        expect![[r#"
            not proved: 7 configurations
            between inputs: 2 transitions, 1 activities, 1 judgements
            whole run: 3 transitions, 1 activities, 1 judgements
            waits in good, bad
            NO  never wrong
               1. start           → a
               2. verdict (judge) → wrong
            W0605 this transition of `bad` is never taken
        "#]],
    );
}

#[test]
fn two_events_are_independent() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user, data: { required: [sure], properties: { sure: { type: boolean } } } } }
initial: a
states:
  a: { on: { go: [{ target: b, guard: event.sure }, { target: done }] } }
  b: { on: { go: [{ target: done, guard: event.sure }, { target: c }] } }
  c: { on: { go: done } }
  done: { type: final, outcome: success }
properties:
  - never: c
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 3 transitions, 0 activities, 0 judgements
            waits in a, b, c
            NO  never c
               1. start     → a
               2. go (user) → b
               3. go (user) → c
        "#]],
    );
}

/// The guard may fail, and then raises `error.execution`.
#[test]
fn a_field_that_the_schema_does_not_require_may_be_missing() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user, data: { properties: { n: { type: integer } } } } }
on: { error: failed }
initial: a
states:
  a: { on: { go: [{ target: b, guard: event.n > 3 }, { target: c }] } }
  b: { on: { go: done } }
  c: { on: { go: done } }
  failed: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: failed
"#,
        expect![[r#"
            not proved: 5 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in a, b, c
            NO  never failed
               1. start     → a
               2. go (user) → failed
        "#]],
    );
}

#[test]
fn a_field_that_the_schema_requires_exists() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user, data: { required: [n], properties: { n: { type: integer } } } }, fail: { from: user } }
on: { error: failed, fail: { target: failed, guard: "false" } }
initial: a
states:
  a: { on: { go: [{ target: b, guard: event.n > 3 }, { target: c }] } }
  b: { on: { go: done } }
  c: { on: { go: done } }
  failed: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: failed
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in a, b, c
            yes never failed
            E0601 state `failed` can never be reached
            W0605 this transition of `small` is never taken
            W0605 this transition of `small` is never taken
        "#]],
    );
}

#[test]
fn a_field_that_has_was_asked_for_does_not_fail() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user, data: { properties: { n: { type: integer } } } } }
on: { error: failed }
initial: a
states:
  a: { on: { go: [{ target: b, guard: has(event.n) && event.n > 3 }, { target: c }] } }
  b: { on: { go: done } }
  c: { on: { go: done } }
  failed: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: failed
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in a, b, c
            yes never failed
            E0601 state `failed` can never be reached
            W0605 this transition of `small` is never taken
        "#]],
    );
}

/// The guard keeps it at two although the limit is five.
#[test]
fn predicates_on_states_and_counters_are_exact() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [ok] }, on: { error: done, ok: [{ target: a, guard: "count.tries < 2", limit: { counter: tries, max: 5 } }, { target: b }] } }
  b: { always: [{ target: wrong, guard: "count.tries > 2 || In('a')" }, { target: done }] }
  wrong: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
  - at_most: 3
    of: .ok
  - at_most: 2
    of: .ok
"#,
        expect![[r#"
            not proved: 6 configurations
            between inputs: 4 transitions, 3 activities, 0 judgements
            whole run: 4 transitions, 3 activities, 0 judgements
            yes never wrong
            yes at most 3 of .ok
            NO  at most 2 of .ok
               1. start     → a
               2. ok (work) → a
               3. ok (work) → a
               4. ok (work) → done
            E0601 state `wrong` can never be reached
            W0605 this transition of `b` is never taken
        "#]],
    );
}

/// An expression that fails has the code `EXECUTION`: it is not taken for an interruption of the activity.
#[test]
fn the_code_of_a_failed_evaluation_is_known() {
    check(
        r#"
machine: small
version: 1
context: { number: 1 }
initial: working
states:
  working:
    timeout: 1m
    entry: { assign: { number: "${context.number + 1}" } }
    invoke: { activity: command.run, with: { command: [make] }, signals: [passed], effect: write }
    on:
      passed: done
      error.execution:
        - { target: wrong, guard: event.code == 'INTERRUPTED' }
        - { target: stopped }
      error:
        - { target: working, guard: event.code == 'INTERRUPTED', limit: 1 }
        - { target: stopped }
      timeout: stopped
  wrong: { type: final, outcome: failure }
  stopped: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
"#,
        expect![[r#"
            not proved: 6 configurations
            between inputs: 2 transitions, 2 activities, 0 judgements
            whole run: 2 transitions, 2 activities, 0 judgements
            yes never wrong
            E0601 state `wrong` can never be reached
            W0605 this transition of `working` is never taken
        "#]],
    );
}
