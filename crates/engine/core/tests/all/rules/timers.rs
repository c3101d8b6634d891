//! Time: delayed events, and the longest time a run may stay in a state.

use expect_test::expect;

use super::check;

#[test]
fn a_delayed_event_comes_when_its_timer_fires() {
    check(
        r#"
initial: a
states:
  a: {entry: {send: {event: ring, delay: 10s, data: {n: 1}}}, on: {ring: {target: b, reason: "rang ${event.n}"}}}
  b: {}
"#,
        r#"+ring;+t1"#,
        expect![[r#"
            start
              *: +m +a
              ! set t1 10000ms
              = a
            +ring
              ring: a.ring "rang 1" -a +b
              = b
            +t1 (late)
              = b
        "#]],
    );
}

#[test]
fn a_delayed_event_outlives_the_state_that_sent_it() {
    check(
        r#"
initial: a
on: {ring: c}
states:
  a: {entry: {send: {event: ring, delay: 1500ms}}, on: {go: b}}
  b: {}
  c: {}
"#,
        r#"go;+ring"#,
        expect![[r#"
            start
              *: +m +a
              ! set t1 1500ms
              = a
            go
              go: a.go -a +b
              = b
            +ring
              ring: m.ring -b +c
              = c
        "#]],
    );
}

#[test]
fn a_cancelled_event_does_not_come() {
    check(
        r#"
initial: a
states:
  a:
    entry: {send: {event: ring, delay: 10s, id: alarm}}
    on:
      stop: {actions: [{cancel: alarm}]}
      ring: b
  b: {}
"#,
        r#"stop;+t1;stop"#,
        expect![[r#"
            start
              *: +m +a
              ! set t1 10000ms
              = a
            stop
              stop: a.stop
              ! clear t1
              = a
            +t1 (late)
              = a
            stop
              stop: a.stop
              = a
        "#]],
    );
}

#[test]
fn a_delay_may_be_computed_and_a_bad_one_is_an_error() {
    check(
        r#"
context: {wait: 2}
initial: a
on: {error: failed}
states:
  a:
    on:
      good: {actions: [{send: {event: ring, delay: "${context.wait}s"}}]}
      bad: {actions: [{send: {event: ring, delay: "${context.wait} parsecs"}}]}
      ring: b
  b: {}
  failed: {}
"#,
        r#"good;bad"#,
        expect![[r#"
            start
              *: +m +a
              = a wait=2
            good
              good: a.good
              ! set t1 2000ms
              = a wait=2
            bad
              bad: not a.bad (fault) fault "`2 parsecs` is not a delay such as 500ms, 1.5s or 2m"
              error.execution: m.error -a +failed
              = failed wait=2
        "#]],
    );
}

#[test]
fn a_delayed_event_that_is_no_longer_handled_is_unhandled() {
    check(
        r#"
initial: a
states:
  a: {entry: {send: {event: ring, delay: 10s}}, on: {go: b, ring: c}}
  b: {}
  c: {}
"#,
        r#"go;+ring"#,
        expect![[r#"
            start
              *: +m +a
              ! set t1 10000ms
              = a
            go
              go: a.go -a +b
              = b
            +ring (unhandled)
              ring:
              = b
        "#]],
    );
}

#[test]
fn a_timeout_is_set_on_entry_and_cleared_on_exit() {
    check(
        r#"
initial: a
states:
  a: {timeout: 5s, on: {go: b, timeout: late}}
  b: {}
  late: {}
"#,
        r#"go;+t1"#,
        expect![[r#"
            start
              *: +m +a
              ! set t1 5000ms
              = a
            go
              go: a.go -a +b
              ! clear t1
              = b
            +t1 (late)
              = b
        "#]],
    );
}

#[test]
fn a_timeout_raises_its_event() {
    check(
        r#"
initial: a
states:
  a: {timeout: 5s, on: {timeout: {target: late, reason: "${event.state} took too long"}}}
  late: {}
"#,
        r#"+timeout.a"#,
        expect![[r#"
            start
              *: +m +a
              ! set t1 5000ms
              = a
            +timeout.a
              timeout.a: a.timeout "a took too long" -a +late
              = late
        "#]],
    );
}

#[test]
fn a_timeout_of_the_machine_holds_for_every_state_with_an_activity() {
    check(
        r#"
timeout: 1m
initial: a
on: {timeout: late, error: late}
states:
  a: {invoke: {activity: build, signals: [built]}, on: {built: b}}
  b: {on: {go: c}}
  c: {invoke: {activity: test, signals: [tested]}, timeout: none, on: {tested: d}}
  d: {invoke: {activity: ship, signals: [shipped]}, timeout: 2h, on: {shipped: a}}
  late: {}
"#,
        r#"@build built;go;@test tested;+timeout.d"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! set t1 60000ms
              ! start a2 build {}
              = a
            @build built
              built: a.built -a +b
              ! clear t1
              = b
            go
              go: b.go -b +c starts test
              ! start a3 test {}
              = c
            @test tested
              tested: c.tested -c +d starts ship
              ! set t4 7200000ms
              ! start a5 ship {}
              = d
            +timeout.d
              timeout.d: m.timeout -d +late
              ! cancel a5
              = late
        "#]],
    );
}

#[test]
fn a_timeout_of_an_outer_state_runs_on_while_inner_ones_change() {
    check(
        r#"
initial: outer
states:
  outer:
    timeout: 1h
    initial: a
    on: {timeout: late}
    states: {a: {timeout: 1s, on: {go: b}}, b: {}}
  late: {}
"#,
        r#"go;+timeout.outer"#,
        expect![[r#"
            start
              *: +m +outer +a
              ! set t1 3600000ms
              ! set t2 1000ms
              = a
            go
              go: a.go -a +b
              ! clear t2
              = b
            +timeout.outer
              timeout.outer: outer.timeout -b -outer +late
              = late
        "#]],
    );
}

#[test]
fn a_state_left_within_the_same_macrostep_sets_no_timer() {
    check(
        r#"
initial: a
states:
  a: {on: {go: b}}
  b: {timeout: 5s, always: c, on: {timeout: a}}
  c: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go -a +b
              *: b.always -b +c
              = c
        "#]],
    );
}
