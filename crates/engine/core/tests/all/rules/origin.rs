//! An event belongs to the state whose activity, timeout or fault raised it; other regions hear it by its qualified
//! name.

use expect_test::expect;

use super::check;

/// Builds two regions whose activities end with the same signals.
fn regions(lint: &str, tests: &str, outer: &str) -> String {
    format!(
        "initial: p
on: {{error: over}}
states:
  p:
    type: parallel
    on: {{{outer}}}
    states:
      lint:
        initial: linting
        states:
          linting: {{timeout: 2m, invoke: {{activity: ruff, signals: [passed, failed]}}, on: {{{lint}}}}}
          linted: {{}}
      tests:
        initial: testing
        states:
          testing: {{timeout: 1m, invoke: {{activity: pytest, signals: [passed, failed]}}, on: {{{tests}}}}}
          tested: {{}}
          warned: {{}}
  over: {{}}
"
    )
}

const PLAIN: &str = "passed: linted, failed: linted";
const OWN: &str = "passed: tested, failed: tested, timeout: tested";

#[test]
fn a_signal_is_not_heard_by_a_sibling_region() {
    check(
        &regions(PLAIN, OWN, ""),
        "@ruff passed; @pytest failed",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            @ruff passed
              passed: linting.passed -linting +linted
              ! clear t1
              = linted testing
            @pytest failed
              failed: testing.failed -testing +tested
              ! clear t3
              = linted tested
        "#]],
    );
}

#[test]
fn a_qualified_name_is_heard_in_another_region_and_in_its_own() {
    let tests = "linting.passed: warned, testing.passed: tested, failed: tested, timeout: tested";
    check(
        &regions(PLAIN, tests, ""),
        "@ruff passed",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            @ruff passed
              passed: linting.passed testing.linting.passed -testing -linting +linted +warned
              ! cancel a4
              ! clear t3
              ! clear t1
              = linted warned
        "#]],
    );
    check(
        &regions(PLAIN, tests, ""),
        "@pytest passed",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            @pytest passed
              passed: testing.testing.passed -testing +tested
              ! clear t3
              = linting tested
        "#]],
    );
}

#[test]
fn an_inner_handler_preempts_an_outer_one_which_hears_the_other_events() {
    let outer = "linting.failed: over, testing.failed: over";
    check(
        &regions("passed: linted, failed: linted", "passed: tested, timeout: tested", outer),
        "@ruff failed; @pytest failed",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            @ruff failed
              failed: not p.linting.failed (preempted) linting.failed -linting +linted
              ! clear t1
              = linted testing
            @pytest failed
              failed: p.testing.failed -testing -tests -linted -lint -p +over
              ! clear t3
              = over
        "#]],
    );
}

#[test]
fn a_wildcard_a_bare_error_and_a_bare_timeout_stay_in_their_region() {
    let tests = "\"*\": warned";
    check(
        &regions("passed: linted, failed: linted, error: linted", tests, ""),
        "@ruff error",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            @ruff error
              error: linting.error -linting +linted
              ! clear t1
              = linted testing
        "#]],
    );
    let lint = "passed: linted, failed: linted, timeout: over";
    check(
        &regions(lint, OWN, ""),
        "+timeout.testing",
        expect![[r#"
        start
          *: +m +p +lint +linting +tests +testing starts ruff starts pytest
          ! set t1 120000ms
          ! start a2 ruff {}
          ! set t3 60000ms
          ! start a4 pytest {}
          = linting testing
        +timeout.testing
          timeout.testing: testing.timeout -testing +tested
          ! cancel a4
          = linting tested
    "#]],
    );
}

#[test]
fn a_timeout_is_heard_elsewhere_by_its_full_name_which_is_not_a_prefix() {
    let lint = "passed: linted, failed: linted, timeout.testing: linted";
    check(
        &regions(lint, OWN, ""),
        "+timeout.testing",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            +timeout.testing
              timeout.testing: linting.timeout.testing testing.timeout -testing -linting +linted +tested
              ! cancel a4
              ! cancel a2
              ! clear t1
              = linted tested
        "#]],
    );
    check(
        "
type: parallel
states:
  a: {timeout: 1m, on: {timeout: {}}}
  a.b: {timeout: 2m, on: {timeout: {}}}
  c: {initial: d, states: {d: {on: {timeout.a: e}}, e: {}}}
",
        "+timeout.a.b; +timeout.a",
        expect![[r#"
            start
              *: +m +a +a.b +c +d
              ! set t1 60000ms
              ! set t2 120000ms
              = a a.b d
            +timeout.a.b
              timeout.a.b: a.b.timeout
              = a a.b d
            +timeout.a
              timeout.a: a.timeout d.timeout.a -d +e
              = a a.b e
        "#]],
    );
}

#[test]
fn an_activity_that_fails_is_heard_elsewhere_by_its_qualified_name() {
    let lint = "passed: linted, failed: linted, testing.error: linted";
    check(
        &regions(lint, OWN, ""),
        "@pytest error",
        expect![[r#"
            start
              *: +m +p +lint +linting +tests +testing starts ruff starts pytest
              ! set t1 120000ms
              ! start a2 ruff {}
              ! set t3 60000ms
              ! start a4 pytest {}
              = linting testing
            @pytest error
              error: not m.error (preempted) linting.testing.error -linting +linted
              ! cancel a2
              ! clear t1
              = linted testing
        "#]],
    );
}

#[test]
fn all_regions_of_a_composite_state_hear_its_own_activity() {
    check(
        "
initial: p
on: {error: over}
states:
  p:
    type: parallel
    invoke: {activity: build, signals: [passed]}
    states:
      a: {initial: a1, states: {a1: {on: {passed: a2}}, a2: {}}}
      b: {initial: b1, states: {b1: {on: {passed: b2}}, b2: {}}}
  over: {}
",
        "@build passed",
        expect![[r#"
            start
              *: +m +p +a +a1 +b +b1 starts build
              ! start a1 build {}
              = a1 b1
            @build passed
              passed: a1.passed b1.passed -b1 -a1 +a2 +b2
              = a2 b2
        "#]],
    );
}

#[test]
fn a_fault_belongs_to_the_failing_state_or_its_nearest_active_ancestor() {
    let machine = |exit: &str, always: &str| {
        format!(
            "
context: {{n: 0}}
type: parallel
states:
  a:
    initial: a1
    on: {{error: {{target: a3, internal: true}}}}
    states:
      a1: {{{exit}, on: {{go: {{target: a2{always}}}}}}}
      a2: {{}}
      a3: {{}}
  b:
    initial: b1
    states:
      b1: {{on: {{error: b2, a1.error.execution: b3}}}}
      b2: {{}}
      b3: {{}}
"
        )
    };
    let fault = "[{assign: {n: \"${1 / context.n}\"}}]";
    check(
        &machine("tags: [x]", &format!(", actions: {fault}")),
        "go",
        expect![[r#"
            start
              *: +m +a +a1 +b +b1
              = a1 b1 n=0
            go
              go: not a1.go (fault) fault "division by zero in `1 / context.n`"
              error.execution: a.error b1.a1.error.execution -b1 -a1 +a3 +b3
              = a3 b3 n=0
        "#]],
    );
    check(
        &machine(&format!("exit: {fault}"), ""),
        "go",
        expect![[r#"
            start
              *: +m +a +a1 +b +b1
              = a1 b1 n=0
            go
              go: not a1.go (fault) fault "division by zero in `1 / context.n`"
              error.execution: a.error b1.a1.error.execution -b1 -a1 +a3 +b3
              = a3 b3 n=0
        "#]],
    );
}

#[test]
fn raised_events_and_events_from_people_are_heard_everywhere() {
    check(
        "
type: parallel
states:
  a: {initial: a1, states: {a1: {on: {go: {target: a2, raise: ping}}}, a2: {on: {ping: a3}}, a3: {}}}
  b: {initial: b1, states: {b1: {on: {ping: b2, go: {}}}, b2: {}}}
",
        "go",
        expect![[r#"
            start
              *: +m +a +a1 +b +b1
              = a1 b1
            go
              go: a1.go b1.go -a1 +a2
              ping: a2.ping b1.ping -b1 -a2 +a3 +b2
              = a3 b2
        "#]],
    );
}
