//! Evaluations that fail raise an `error.execution` event; they are never silent and never stop the machine.

use expect_test::expect;

use super::{check, check_with};

#[test]
fn a_failing_guard_is_an_error_and_the_next_candidate_is_evaluated() {
    check(
        r#"
events: {go: {from: any}}
context: {m: {}}
initial: a
on: {error.execution: {target: failed, reason: "${event.code}: ${event.message} in ${event.expression} at ${event.state}"}}
states:
  a: {on: {go: [{target: b, guard: "context.m.status == 'PASS'"}, {target: c}]}}
  b: {}
  c: {}
  failed: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go#1 (fault) a.go#2 -a +c fault "no such field: status in `context.m.status == 'PASS'`"
              error.execution: m.error.execution "EXECUTION: no such field: status in context.m.status == 'PASS' at a" -c +failed
              = failed m={}
        "#]],
    );
}

#[test]
fn an_unhandled_guard_failure_leaves_the_machine_in_place() {
    check(
        r#"
context: {m: {}}
initial: a
states: {a: {on: {go: {target: b, guard: "context.m.status == 'PASS'"}}}, b: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go (unhandled)
              go: not a.go (fault) fault "no such field: status in `context.m.status == 'PASS'`"
              error.execution:
              = a m={}
        "#]],
    );
}

#[test]
fn a_guard_that_is_not_a_boolean_is_an_error() {
    check(
        r#"
context: {n: null}
initial: a
on: {error: failed}
states: {a: {on: {go: {target: b, guard: context.n}}}, b: {}, failed: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=null
            go
              go: not a.go (fault) fault "expected a bool, got null in `context.n`"
              error.execution: m.error -a +failed
              = failed n=null
        "#]],
    );
}

#[test]
fn a_failed_assignment_skips_only_the_rest_of_its_block() {
    check(
        r#"
context: {m: {}, n: 0, log: ""}
initial: a
on: {error: {assign: {log: "${context.log + event.message}"}}}
states:
  a:
    on:
      go:
        target: b
        actions: [{assign: {n: 1}}, {assign: {n: "${context.m.gone}"}}, {assign: {n: 3}}]
  b: {entry: {assign: {log: "entered "}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0 log=
            go
              go: a.go -a +b fault "no such field: gone in `context.m.gone`"
              error.execution: m.error
              = b m={} n=1 log=entered no such field: gone
        "#]],
    );
}

#[test]
fn a_failing_reason_is_recorded_and_changes_nothing() {
    check(
        r#"
context: {m: {}}
initial: a
on: {error: failed}
states: {a: {on: {go: {target: b, reason: "because ${context.m.gone}"}}}, b: {}, failed: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: a.go -a +b fault "no such field: gone in `context.m.gone`"
              = b m={}
        "#]],
    );
}

#[test]
fn integer_overflow_is_an_error() {
    check(
        r#"
context: {n: 9223372036854775807}
initial: a
on: {error: {target: failed, reason: "${event.message}"}}
states: {a: {on: {go: {assign: {n: "${context.n + 1}"}}}}, failed: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=9223372036854775807
            go
              go: a.go fault "the number is too large in `context.n + 1`"
              error.execution: m.error "the number is too large" -a +failed
              = failed n=9223372036854775807
        "#]],
    );
}

#[test]
fn dividing_by_zero_is_an_error() {
    check(
        r#"
context: {n: 0}
initial: a
on: {error: {target: failed, reason: "${event.message}"}}
states: {a: {on: {go: {target: b, guard: 10 / context.n > 1}}}, b: {}, failed: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0
            go
              go: not a.go (fault) fault "division by zero in `10 / context.n > 1`"
              error.execution: m.error "division by zero" -a +failed
              = failed n=0
        "#]],
    );
}

#[test]
fn an_initial_value_that_fails_is_an_error_at_the_start() {
    check(
        r#"
context: {n: "${input.gone}"}
initial: a
on: {error: failed}
states: {a: {}, failed: {}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +a fault "no such field: gone in `input.gone`"
              error.execution: m.error -a +failed
              = failed n=null
        "#]],
    );
}

#[test]
fn a_false_side_decides_a_guard_even_if_the_other_side_fails() {
    check(
        r#"
context: {m: {}, n: 0}
initial: a
on: {error: failed}
states:
  a:
    on:
      and: {target: b, guard: "context.m.gone == 1 && context.n == 1"}
      or: {target: b, guard: "context.m.gone == 1 || context.n == 0"}
  b: {}
  failed: {}
"#,
        r#"and;or"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            and (unhandled)
              and: not a.and (guard)
              = a m={} n=0
            or
              or: a.or -a +b
              = b m={} n=0
        "#]],
    );
}

#[test]
fn a_number_that_is_not_finite_is_refused() {
    check(
        r#"
context: {f: 0.0}
initial: a
on: {error: {target: failed, reason: "${event.message}"}}
states: {a: {on: {go: {assign: {f: "${1.0 / context.f}"}}}}, failed: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a f=0.0
            go
              go: a.go fault "the number is not finite in `1.0 / context.f`"
              error.execution: m.error "the number is not finite" -a +failed
              = failed f=0.0
        "#]],
    );
}

#[test]
fn a_value_that_grows_for_ever_is_stopped() {
    check(
        r#"
context: {l: []}
initial: a
on: {error: {target: failed, assign: {l: []}, reason: "${event.message}"}}
states: {a: {always: {assign: {l: "${[context.l]}"}}}, failed: {}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +a
              *: a.always
              ... 998 rounds ...
              *: a.always fault "the value is nested too deeply in `[context.l]`" fault "no rest after 1000 rounds of one macrostep"
              error.execution: m.error "no rest after 1000 rounds of one macrostep" -a +failed
              = failed l=[]
        "#]],
    );
}

#[test]
fn an_expression_beyond_the_step_budget_is_an_error_that_names_it() {
    check_with(
        r#"
events: {go: {from: any}}
initial: a
on: {error.execution: {target: failed, reason: "${event.message} in ${event.expression}"}}
states:
  a: {on: {go: [{target: b, guard: "input.l.all(a, input.l.all(b, input.l.all(c, input.l.all(d, a + b + c + d >= 0))))"}]}}
  b: {}
  failed: {}
"#,
        &format!("{{\"l\": [{}]}}", (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(",")),
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: not a.go (fault) fault "it takes more than 2000000 steps in `input.l.all(a, input.l.all(b, input.l.all(c, input.l.all(d, a + b + c + d >= 0))))`"
              error.execution: m.error.execution "it takes more than 2000000 steps in input.l.all(a, input.l.all(b, input.l.all(c, input.l.all(d, a + b + c + d >= 0))))" -a +failed
              = failed
        "#]],
    );
}

#[test]
fn long_lists_are_mapped_and_filtered_within_the_budget() {
    check_with(
        r#"
context: {n: 0}
events: {go: {from: any}}
initial: a
states:
  a: {on: {go: {target: b, assign: {n: "${size(input.l.map(x, x + 1).filter(x, x > 10000))}"}}}}
  b: {}
"#,
        &format!("{{\"l\": [{}]}}", (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")),
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0
            go
              go: a.go -a +b
              = b n=10000
        "#]],
    );
}
