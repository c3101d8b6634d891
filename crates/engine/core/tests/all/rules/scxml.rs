//! Machines with `semantics: scxml` keep the rule of W3C SCXML: a guard that fails is false, an action that fails ends its
//! block, and `error.execution` waits in the internal queue.

use expect_test::expect;

use super::check;

#[test]
fn a_failing_guard_is_an_error_and_the_next_candidate_is_evaluated() {
    check(
        r#"
semantics: scxml
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
semantics: scxml
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
fn a_failed_assignment_skips_only_the_rest_of_its_block() {
    check(
        r#"
semantics: scxml
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
semantics: scxml
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
fn failing_data_of_a_final_state_leaves_the_done_event_empty() {
    check(
        r#"
semantics: scxml
context: {m: {}}
initial: a
states:
  a:
    initial: a1
    on: {done: {target: b, reason: "${size(event)}"}}
    states:
      a1: {on: {go: end}}
      end: {type: final, data: {n: "${context.m.gone}"}}
  b: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1 m={}
            go
              go: a1.go -a1 +end fault "no such field: gone in `context.m.gone`"
              error.execution:
              done.state.a: a.done.state.a "0" -end -a +b
              = b m={}
        "#]],
    );
}

#[test]
fn a_failing_eventless_guard_is_reported_once_and_the_machine_rests() {
    check(
        r#"
semantics: scxml
initial: a
states:
  a: {always: {target: b, guard: "event.n == 1"}}
  b: {}
"#,
        r#"odd {"n": 1}"#,
        expect![[r#"
            start
              *: +m +a
              *: not a.always (fault) fault "no such field: n in `event.n == 1`"
              error.execution:
              = a
            odd {"n": 1}
              odd:
              *: a.always -a +b
              = b
        "#]],
    );
}
