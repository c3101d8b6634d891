//! Every form of property, proved and falsified, with the shortest counterexample.

use crate::show;
use expect_test::{Expect, expect};

fn check(machine: &str, expected: Expect) {
    expected.assert_eq(&show::report(machine));
}

#[test]
fn never() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, back: { from: user } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: b, bad: c, error: failed } }
  b: { invoke: { activity: check, signals: [passed, broken] }, on: { passed: done, broken: [{ target: a, limit: 2 }, { target: failed }], error: failed } }
  c: { tags: [risky], on: { go: { target: done }, back: a } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
properties:
  - never: '#risky'
  - never: '@check'
  - never: c -> failed
"#,
        expect![[r#"
            not proved: 15 configurations
            between inputs: 7 transitions, 6 activities, 0 judgements
            whole run: no bound
            waits in c
            NO  never #risky
               1. start      → a
               2. bad (work) → c
            NO  never @check
               1. start     → a
               2. ok (work) → b
            yes never c -> failed
        "#]],
    );
}

#[test]
fn never_without() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, back: { from: user } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: b, bad: c, error: failed } }
  b: { invoke: { activity: check, signals: [passed, broken] }, on: { passed: done, broken: [{ target: a, limit: 2 }, { target: failed }], error: failed } }
  c: { tags: [risky], on: { go: { target: done }, back: a } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
properties:
  - never: done
    without: b.passed
  - never: done
    without: [b.passed, .go]
"#,
        expect![[r#"
            not proved: 15 configurations
            between inputs: 7 transitions, 6 activities, 0 judgements
            whole run: no bound
            waits in c
            NO  never done without b.passed
               1. start      → a
               2. bad (work) → c
               3. go (user)  → done
            yes never done without b.passed or .go
        "#]],
    );
}

#[test]
fn never_without_since() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, back: { from: user } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: b, bad: c, error: failed } }
  b: { invoke: { activity: check, signals: [passed, broken] }, on: { passed: done, broken: [{ target: a, limit: 2 }, { target: failed }], error: failed } }
  c: { tags: [risky], on: { go: { target: done }, back: a } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
properties:
  - never: done
    without: [.ok, .go]
    since: a
  - never: b
    without: a.ok
    since: b.broken
  - never: done
    without: .broken
    since: c
"#,
        expect![[r#"
            not proved: 15 configurations
            between inputs: 7 transitions, 6 activities, 0 judgements
            whole run: no bound
            waits in c
            yes never done without .ok or .go since a
            yes never b without a.ok since b.broken
            NO  never done without .broken since c
               1. start          → a
               2. ok (work)      → b
               3. passed (check) → done
        "#]],
    );
}

/// Once the limit is used up, there is no path back from b to a, and c can only be reached through a.
#[test]
fn possible() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, back: { from: user } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: b, bad: c, error: failed } }
  b: { invoke: { activity: check, signals: [passed, broken] }, on: { passed: done, broken: [{ target: a, limit: 2 }, { target: failed }], error: failed } }
  c: { tags: [risky], on: { go: { target: done }, back: a } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
properties:
  - possible: done
  - possible: c
  - possible: [failed, done]
"#,
        expect![[r#"
            not proved: 15 configurations
            between inputs: 7 transitions, 6 activities, 0 judgements
            whole run: no bound
            waits in c
            yes possible done
            NO  possible c
               1. start          → a
               2. ok (work)      → b
               3. broken (check) → a
               4. ok (work)      → b
               5. broken (check) → a
               6. ok (work)      → b
            yes possible failed or done
        "#]],
    );
}

/// A run that waits in c has broken nothing: a person owes it the next step.
#[test]
fn leads_to() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, back: { from: user } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: b, bad: c, error: failed } }
  b: { invoke: { activity: check, signals: [passed, broken] }, on: { passed: done, broken: [{ target: a, limit: 2 }, { target: failed }], error: failed } }
  c: { tags: [risky], on: { go: { target: done }, back: a } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
properties:
  - after: a
    leads_to: [done, failed, c]
  - after: a
    leads_to: done
  - after: c
    leads_to: [done, a]
  - after: b
    leads_to: [a, done, failed]
"#,
        expect![[r#"
            not proved: 15 configurations
            between inputs: 7 transitions, 6 activities, 0 judgements
            whole run: no bound
            waits in c
            yes after a leads to done or failed or c
            NO  after a leads to done
               1. start        → a
               2. error (work) → failed
            yes after c leads to done or a
            yes after b leads to a or done or failed
        "#]],
    );
}

#[test]
fn leads_to_is_broken_by_a_loop_without_the_promised_state() {
    check(
        r#"
machine: small
version: 1
initial: a
states:
  a: { invoke: { activity: work, signals: [again, ok] }, on: { again: a, ok: done, error: a } }
  done: { type: final, outcome: success }
properties:
  - after: a
    leads_to: done
"#,
        expect![[r#"
            not proved: 2 configurations
            between inputs: no bound
            whole run: no bound
            NO  after a leads to done
               1. start        → a
               2. again (work) → a
                  … and again from 2
            E0603 this loop has no limit, so the machine may never come to rest
               1. start        → a
               2. again (work) → a
                  … and again from 2
        "#]],
    );
}

#[test]
fn at_most() {
    check(
        r#"
machine: small
version: 1
events: { go: { from: user }, back: { from: user } }
initial: a
states:
  a: { invoke: { activity: work, signals: [ok, bad] }, on: { ok: b, bad: c, error: failed } }
  b: { invoke: { activity: check, signals: [passed, broken] }, on: { passed: done, broken: [{ target: a, limit: 2 }, { target: failed }], error: failed } }
  c: { tags: [risky], on: { go: { target: done }, back: a } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
properties:
  - at_most: 3
    of: b
    since: .back
  - at_most: 2
    of: b
  - at_most: 1
    of: b
    since: a
"#,
        expect![[r#"
            not proved: 15 configurations
            between inputs: 7 transitions, 6 activities, 0 judgements
            whole run: no bound
            waits in c
            yes at most 3 of b since .back
            NO  at most 2 of b
               1. start          → a
               2. ok (work)      → b
               3. broken (check) → a
               4. ok (work)      → b
               5. broken (check) → a
               6. ok (work)      → b
            yes at most 1 of b since a
        "#]],
    );
}

/// Lint and tests in two regions, whose activities end with the same signals.
fn lint_and_tests(outer: &str, tests: &str) -> bool {
    let text = format!(
        "machine: m
version: 1
initial: checking
on: {{error: red}}
states:
  checking:
    type: parallel
    on: {{{outer}}}
    states:
      linting: {{invoke: {{activity: lint, signals: [passed, failed]}}, on: {{failed: red}}}}
      testing: {{invoke: {{activity: test, signals: [passed, failed]}}, on: {{{tests}failed: red}}}}
  green: {{type: final, outcome: success}}
  red: {{type: final, outcome: failure}}
properties:
  - never: green
    without: testing.passed
"
    );
    let reading = interlock_chart::yaml::read(&text);
    let chart = reading.chart.unwrap_or_else(|| panic!("{:?}", reading.diagnostics));
    interlock_checker::check(std::sync::Arc::new(chart), &interlock_checker::Options::default()).properties[0].ok
}

#[test]
fn a_signal_in_a_property_is_that_activitys_outcome_with_any_handler() {
    assert!(lint_and_tests("testing.passed: green, linting.passed: {}", ""), "a state around it handles it");
    assert!(lint_and_tests("linting.passed: {}", "passed: green, "), "the state itself handles it");
    assert!(!lint_and_tests("linting.passed: green, testing.passed: {}", ""), "lint alone makes it green");
    assert!(!lint_and_tests("linting.passed testing.passed: green", ""), "either makes it green");
}
