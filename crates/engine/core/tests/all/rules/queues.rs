//! Run to completion: eventless transitions, the internal queue before the external one, and the round limit.

use expect_test::expect;

use super::check;

#[test]
fn eventless_transitions_follow_at_once() {
    check(
        r#"
context: {n: 0}
initial: a
states:
  a: {on: {go: {target: b, assign: {n: 1}}}}
  b:
    always:
      - {target: c, guard: context.n > 1}
      - {target: d, guard: context.n == 1, reason: "n is ${context.n}"}
  c: {}
  d: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0
            go
              go: a.go -a +b
              *: not b.always#1 (guard) b.always#2 "n is 1" -b +d
              = d n=1
        "#]],
    );
}

#[test]
fn eventless_transitions_go_before_raised_events() {
    check(
        r#"
initial: a
states:
  a: {on: {go: {target: b, raise: inner}}}
  b: {always: c, on: {inner: x}}
  c: {on: {inner: d}}
  d: {}
  x: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go -a +b
              *: b.always -b +c
              inner: c.inner -c +d
              = d
        "#]],
    );
}

#[test]
fn raised_events_are_handled_in_order_and_before_those_sent() {
    check(
        r#"
context: {log: ""}
initial: a
on:
  r1: {assign: {log: "${context.log + ' r1'}"}}
  r2: {assign: {log: "${context.log + ' r2'}"}}
  s1: {assign: {log: "${context.log + ' s1'}"}}
states:
  a: {on: {go: {actions: [{send: {event: s1}}, {raise: r1}, {raise: {event: r2}}]}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a log=
            go
              go: a.go
              r1: m.r1
              r2: m.r2
              s1: m.s1
              = a log= r1 r2 s1
        "#]],
    );
}

#[test]
fn a_raised_event_carries_its_data() {
    check(
        r#"
context: {n: 0}
initial: a
on: {inner: {assign: {n: "${event.n}"}}}
states: {a: {on: {go: {raise: {event: inner, data: {n: "${event.n + 1}"}}}}}}
"#,
        r#"go {"n": 41}"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0
            go {"n": 41}
              go: a.go
              inner: m.inner
              = a n=42
        "#]],
    );
}

#[test]
fn an_eventless_guard_over_the_event_sees_each_internal_event() {
    check(
        r#"
initial: a
states:
  a: {on: {go: {raise: [one, two]}}, always: {target: b, guard: "_event.name == 'two'"}}
  b: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              *: not a.always (guard)
              = a
            go
              go: a.go
              *: not a.always (guard)
              one:
              *: not a.always (guard)
              two:
              *: a.always -a +b
              = b
        "#]],
    );
}

#[test]
fn an_eventless_guard_over_the_event_sees_an_event_without_a_handler() {
    check(
        r#"
events: {odd: {from: any}}
initial: a
states:
  a: {always: {target: b, guard: "_event.name == 'odd'"}}
  b: {}
"#,
        r#"odd"#,
        expect![[r#"
            start
              *: +m +a
              *: not a.always (guard)
              = a
            odd
              odd:
              *: a.always -a +b
              = b
        "#]],
    );
}

#[test]
fn a_loop_of_eventless_transitions_is_stopped_and_raises_an_error() {
    check(
        r#"
context: {n: 0}
initial: a
on: {error: {target: failed, reason: "${event.message}", assign: {n: "${state.b.visits}"}}}
states:
  a: {on: {go: b}}
  b: {always: c}
  c: {always: b}
  failed: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0
            go
              go: a.go -a +b
              *: b.always -b +c
              ... 997 rounds ...
              *: b.always -b +c fault "no rest after 1000 rounds of one macrostep"
              error.execution: m.error "no rest after 1000 rounds of one macrostep" -c +failed
              = failed n=500
        "#]],
    );
}

#[test]
fn a_loop_that_continues_after_the_error_ends_the_run_as_failed() {
    check(
        r#"
initial: a
states:
  a: {on: {go: b}}
  b: {always: c}
  c: {always: b}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go -a +b
              *: b.always -b +c
              ... 997 rounds ...
              *: b.always -b +c fault "no rest after 1000 rounds of one macrostep"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"","message":"no rest after 1000 rounds of one macrostep","place":"a step of `m`","state":"m","values":{}}
              = c done
        "#]],
    );
}

#[test]
fn a_machine_that_keeps_sending_itself_events_is_stopped_too() {
    check(
        r#"
initial: a
on: {error: stopped}
states:
  a: {on: {go: {actions: [{send: {event: go}}]}}}
  stopped: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go
              go: a.go
              ... 997 rounds ...
              go: a.go fault "no rest after 1000 rounds of one macrostep"
              error.execution: m.error -a +stopped
              = stopped
        "#]],
    );
}

#[test]
fn actions_are_executed_in_order_and_branches_by_condition() {
    check(
        r#"
context: {n: 0, word: ""}
initial: a
states:
  a:
    on:
      go:
        actions:
          - {assign: {n: "${event.n}"}}
          - {if: context.n > 10, then: [{assign: {word: big}}], else: [{assign: {word: small}}, {log: "only ${context.n}"}]}
"#,
        r#"go {"n": 11};go {"n": 3}"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0 word=
            go {"n": 11}
              go: a.go
              = a n=11 word=big
            go {"n": 3}
              go: a.go log "only 3"
              = a n=3 word=small
        "#]],
    );
}
