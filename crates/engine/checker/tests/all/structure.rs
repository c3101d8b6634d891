//! Reachability: exact numbers of configurations, dead ends, regions, history, delayed events.

use crate::show;
use expect_test::{Expect, expect};

fn check(machine: &str, expected: Expect) {
    expected.assert_eq(&show::report(machine));
}

#[test]
fn a_state_without_incoming_transitions_is_unreachable() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user } }
initial: a
states:
  a: { on: { go: b } }
  b: { always: [{ target: c, guard: "false" }, { target: done }] }
  c: { on: { go: done } }
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            not proved: 2 configurations
            between inputs: 2 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in a
            E0601 state `c` can never be reached
            W0605 this transition of `b` is never taken
        "#]],
    );
}

#[test]
fn a_state_without_an_exit_is_a_dead_end() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: done, bad: stuck, error: done } }
  stuck: {}
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            not proved: 3 configurations
            between inputs: 1 transitions, 1 activities, 0 judgements
            whole run: 1 transitions, 1 activities, 0 judgements
            waits in stuck
            E0602 from here the run can neither end nor reach a state tagged `idle`
               1. start      → a
               2. bad (work) → stuck
        "#]],
    );
}

#[test]
fn a_state_tagged_idle_is_a_resting_place() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: done, bad: resting, error: done } }
  resting: { tags: [idle] }
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            proved: 3 configurations
            between inputs: 1 transitions, 1 activities, 0 judgements
            whole run: 1 transitions, 1 activities, 0 judgements
            waits in resting
        "#]],
    );
}

/// Neither the failure of the activity nor a refused signal has a transition.
#[test]
fn a_signal_without_a_handler_leaves_a_run_without_its_activity() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [ok] }, on: { ok: { target: done, guard: "event.sure" } } }
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: 1 transitions, 1 activities, 0 judgements
            whole run: 1 transitions, 1 activities, 0 judgements
            waits in a
            E0602 from here the run can neither end nor reach a state tagged `idle`
               1. start     → a
               2. ok (work) → a
            W0607 the guard of `ok` in `a` may fail (`event.sure`), and no transition handles `error.execution` there: the run then ends in failure
        "#]],
    );
}

/// Three times two configurations, and the end.
#[test]
fn regions_multiply() {
    check(
        r#"
machine: small
version: 1
events: { x: { from: user }, y: { from: user }, stop: { from: user } }
initial: a
states:
  a:
    type: parallel
    states:
      left: { initial: l0, states: { l0: { on: { x: l1 } }, l1: { on: { x: l2 } }, l2: { on: { x: l0 } } } }
      right: { initial: r0, states: { r0: { on: { y: r1 } }, r1: { on: { y: r0 } } } }
    on: { stop: done }
  done: { type: final, outcome: success }
properties:
  - possible: done
"#,
        expect![[r#"
            proved: 7 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: no bound
            waits in l0, l1, l2, r0, r1
            yes possible done
        "#]],
    );
}

/// Four configurations, of which the last is left at once, and the end.
#[test]
fn a_parallel_state_is_done_when_its_regions_are() {
    check(
        r#"
machine: small
version: 1
events: { x: { from: user }, y: { from: user } }
initial: a
states:
  a:
    type: parallel
    states:
      left: { initial: l0, states: { l0: { on: { x: l1 } }, l1: { type: final } } }
      right: { initial: r0, states: { r0: { on: { y: r1 } }, r1: { type: final } } }
    on: { done: end }
  end: { type: final, outcome: success }
properties:
  - never: end
    without: l1
  - never: end
    without: r1
  - never: l1
    without: r1
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: 2 transitions, 0 activities, 0 judgements
            whole run: 3 transitions, 0 activities, 0 judgements
            waits in l0, r0
            yes never end without l1
            yes never end without r1
            NO  never l1 without r1
               1. start    → l0 + r0
               2. x (user) → l1 + r0
        "#]],
    );
}

#[test]
fn shallow_history_remembers_the_child() {
    check(
        r#"
machine: small
version: 1
events: { x: { from: user }, y: { from: user }, away: { from: user }, back: { from: user }, stop: { from: user } }
initial: a
states:
  a:
    initial: b
    on: { away: c, stop: done }
    states:
      back: { type: history, history: shallow, target: b }
      b: { initial: b0, on: { x: d }, states: { b0: { on: { y: b1 } }, b1: { on: { y: b0 } } } }
      d: { on: { x: b } }
  c: { on: { back: back, stop: done } }
  done: { type: final, outcome: success }
properties:
  - never: c -> b1
  - never: c -> d
"#,
        expect![[r#"
            not proved: 13 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: no bound
            waits in b0, b1, d, c
            yes never c -> b1
            NO  never c -> d
               1. start       → b0
               2. x (user)    → d
               3. away (user) → c
               4. back (user) → d
        "#]],
    );
}

/// Three states inside, each with the last history record or none; outside, only the record; the end with all of them.
#[test]
fn deep_history_remembers_the_state_inside() {
    check(
        r#"
machine: small
version: 1
events: { x: { from: user }, y: { from: user }, away: { from: user }, back: { from: user }, stop: { from: user } }
initial: a
states:
  a:
    initial: b
    on: { away: c, stop: done }
    states:
      back: { type: history, history: deep, target: b }
      b: { initial: b0, on: { x: d }, states: { b0: { on: { y: b1 } }, b1: { on: { y: b0 } } } }
      d: { on: { x: b } }
  c: { on: { back: back, stop: done } }
  done: { type: final, outcome: success }
properties:
  - never: c -> b1
  - never: c -> d
"#,
        expect![[r#"
            not proved: 18 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: no bound
            waits in b0, b1, d, c
            NO  never c -> b1
               1. start       → b0
               2. y (user)    → b1
               3. away (user) → c
               4. back (user) → b1
            NO  never c -> d
               1. start       → b0
               2. x (user)    → d
               3. away (user) → c
               4. back (user) → d
        "#]],
    );
}

#[test]
fn a_delayed_event_comes_at_any_time_or_is_cancelled() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user } }
initial: a
states:
  a: { entry: [{ send: { event: late, delay: 10s, id: one } }], on: { late: b, go: c } }
  b: { on: { go: done } }
  c: { entry: [{ cancel: one }], on: { late: wrong, go: done } }
  wrong: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
"#,
        expect![[r#"
            not proved: 4 configurations
            between inputs: 1 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in b, c
            yes never wrong
            E0601 state `wrong` can never be reached
            W0605 this transition of `c` is never taken
        "#]],
    );
}

#[test]
fn a_delayed_event_that_is_not_cancelled_comes_late() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user } }
initial: a
states:
  a: { entry: [{ send: { event: late, delay: 10s, id: one } }], on: { late: b, go: c } }
  b: { on: { go: done } }
  c: { on: { late: wrong, go: done } }
  wrong: { type: final, outcome: failure }
  done: { type: final, outcome: success }
properties:
  - never: wrong
"#,
        expect![[r#"
            not proved: 5 configurations
            between inputs: 2 transitions, 0 activities, 0 judgements
            whole run: 2 transitions, 0 activities, 0 judgements
            waits in b
            NO  never wrong
               1. start        → a
               2. go (user)    → c
               3. late (timer) → wrong
        "#]],
    );
}

/// No pending event, one, or any number; the end discards them.
#[test]
fn unlimited_delayed_events_still_give_finitely_many_configurations() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, stop: { from: user } }
initial: a
states:
  a: { on: { go: { target: a, actions: [{ send: { event: late, delay: 10s } }] }, late: { reason: counted }, stop: done } }
  done: { type: final, outcome: success }
"#,
        expect![[r#"
            proved: 4 configurations
            between inputs: 3 transitions, 0 activities, 0 judgements
            whole run: no bound
            waits in a
        "#]],
    );
}
