//! An expression that fails never decides: the step is not taken, `error.execution` is handled first, and a run that does
//! not handle it ends in failure.

use expect_test::expect;

use super::{check, check_with};

#[test]
fn a_failing_guard_stops_the_step_and_no_later_alternative_is_taken() {
    check(
        r#"
initial: testing
states:
  testing:
    invoke: {activity: test, signals: [passed]}
    on: {passed: [{target: blocked, guard: "event.findings.critical > 0"}, released]}
  blocked: {type: final, outcome: failure}
  released: {type: final, outcome: success}
"#,
        r#"@test passed {"findings": {"high": 2}}"#,
        expect![[r#"
            start
              *: +m +testing starts test
              ! start a1 test {}
              = testing
            @test passed {"findings": {"high": 2}}
              passed: not testing.passed#1 (fault) fault "no such field: critical in `event.findings.critical > 0`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"event.findings.critical > 0","message":"no such field: critical","place":"the guard of `passed` in `testing`","state":"testing","values":{"event.findings":{"high":2}}}
              = testing done
        "#]],
    );
}

#[test]
fn a_fault_goes_where_a_transition_that_names_it_leads() {
    check(
        r#"
initial: a
on: {error.execution: {target: failed, reason: "${event.code}: ${event.message} in ${event.expression}, ${event.place}, at ${event.state}: ${event.values}"}}
context: {m: {}}
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
              go: not a.go#1 (fault) fault "no such field: status in `context.m.status == 'PASS'`"
              error.execution: m.error.execution "EXECUTION: no such field: status in context.m.status == 'PASS', the guard of `go` in `a`, at a: {"context.m":{}}" -a +failed
              = failed m={}
        "#]],
    );
}

#[test]
fn a_machine_may_send_a_fault_to_success_by_name() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: {target: c, guard: "context.m.gone"}, error: b}}
  b: {type: final, outcome: success}
  c: {type: final, outcome: failure}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: a.error -a +b
              ! finish success in b
              = b m={} done
        "#]],
    );
}

#[test]
fn a_wildcard_does_not_take_a_fault() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: {target: c, guard: "context.m.gone"}, "*": b}}
  b: {type: final, outcome: success}
  c: {type: final, outcome: failure}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the guard of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a m={} done
        "#]],
    );
}

#[test]
fn a_wildcard_beside_the_error_of_another_state_does_not_take_a_fault() {
    check(
        r#"
initial: both
context: {m: {}}
states:
  both:
    type: parallel
    states:
      a: {on: {go: {target: b, guard: "context.m.gone"}, "* c.error": b}}
      c: {invoke: {activity: work, signals: [ok]}, on: {ok: b}}
  b: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +both +a +c starts work
              ! start a1 work {}
              = a c m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! cancel a1
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the guard of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a c m={} done
        "#]],
    );
}

#[test]
fn an_outer_transition_for_the_same_event_is_not_taken_either() {
    check(
        r#"
initial: outer
context: {m: {}}
states:
  outer:
    initial: a
    on: {go: done}
    states: {a: {on: {go: {target: b, guard: "context.m.gone"}}}, b: {}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +outer +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the guard of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a m={} done
        "#]],
    );
}

#[test]
fn a_handler_in_the_state_of_the_guard_is_in_reach_because_the_state_is_not_left() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: [{target: b, guard: "context.m.gone"}, c], error.execution: asked}}
  b: {}
  c: {type: final, outcome: success}
  asked: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go#1 (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: a.error.execution -a +asked
              = asked m={}
        "#]],
    );
}

#[test]
fn a_failing_guard_in_one_region_stops_the_event_in_every_region() {
    check(
        r#"
initial: both
context: {m: {}}
on: {error: {target: failed, reason: "${event.message}"}}
states:
  both:
    type: parallel
    states:
      left: {initial: l1, states: {l1: {on: {go: l2}}, l2: {}}}
      right: {initial: r1, states: {r1: {on: {go: {target: r2, guard: "context.m.gone"}}}, r2: {}}}
  failed: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +both +left +l1 +right +r1
              = l1 r1 m={}
            go
              go: not r1.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: m.error "no such field: gone" -r1 -right -l1 -left -both +failed
              = failed m={}
        "#]],
    );
}

#[test]
fn a_failing_assignment_on_the_way_into_a_final_state_is_not_a_success() {
    check(
        r#"
initial: a
context: {m: {}, total: 0}
states:
  a: {on: {go: {target: done, assign: {total: "${context.m.gone}"}}}}
  done: {type: final, outcome: success, data: {total: "${context.total}"}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} total=0
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"an action of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a m={} total=0 done
        "#]],
    );
}

#[test]
fn a_failing_assignment_takes_the_whole_transition_back() {
    check(
        r#"
initial: a
context: {m: {}, n: 0, log: ""}
states:
  a:
    exit: {assign: {log: "left "}}
    on:
      go:
        target: b
        limit: 1
        actions: [{assign: {n: 1}}, {raise: {event: said}}, {send: {event: late, delay: 1s}}, {assign: {n: "${context.m.gone}"}}]
      error: {assign: {log: "${context.log + event.message}"}}
      said: b
  b: {entry: {assign: {log: "entered "}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0 log=
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: a.error
              = a m={} n=0 log=no such field: gone
        "#]],
    );
}

#[test]
fn a_failing_entry_takes_the_transition_back() {
    check(
        r#"
initial: a
context: {m: {}, n: 0}
states:
  a: {on: {go: b, error: asked}}
  b: {entry: {assign: {n: "${context.m.gone}"}}, always: done}
  asked: {}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: a.error -a +asked
              = asked m={} n=0
        "#]],
    );
}

#[test]
fn a_failing_entry_before_an_always_into_a_final_state_is_not_a_success() {
    check(
        r#"
initial: a
context: {m: {}, n: 0}
states:
  a: {on: {go: b}}
  b: {entry: {assign: {n: "${context.m.gone}"}}, always: done}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the entry of `b`","state":"b","values":{"context.m":{}}}
              = a m={} n=0 done
        "#]],
    );
}

#[test]
fn a_failing_guard_of_an_always_stops_the_machine_there() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: b}}
  b: {always: [{target: c, guard: "context.m.gone"}, done]}
  c: {}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: a.go -a +b
              *: not b.always#1 (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the guard of `always` in `b`","state":"b","values":{"context.m":{}}}
              = b m={} done
        "#]],
    );
}

#[test]
fn failing_data_of_a_final_state_is_not_a_success() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: done}}
  done: {type: final, outcome: success, data: {total: "${context.m.gone}"}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the data of `done`","state":"done","values":{"context.m":{}}}
              = a m={} done
        "#]],
    );
}

#[test]
fn failing_data_of_an_inner_final_state_does_not_complete_it() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a:
    initial: a1
    on: {done.state.a: done}
    states: {a1: {on: {go: a2}}, a2: {type: final, data: {total: "${context.m.gone}"}}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1 m={}
            go
              go: not a1.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the data of `a2`","state":"a","values":{"context.m":{}}}
              = a1 m={} done
        "#]],
    );
}

#[test]
fn a_failing_exit_action_keeps_the_state() {
    check(
        r#"
initial: a
context: {m: {}, n: 0}
states:
  a: {exit: {assign: {n: "${context.m.gone}"}}, on: {go: done}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the exit of `a`","state":"a","values":{"context.m":{}}}
              = a m={} n=0 done
        "#]],
    );
}

#[test]
fn a_handler_leaves_a_state_whose_exit_action_fails_without_that_action() {
    check(
        r#"
initial: a
context: {m: {}, n: 0}
on: {error: {target: failed, reason: "${event.place}"}}
states:
  a: {exit: {assign: {n: "${context.m.gone}"}}, on: {go: done}}
  done: {type: final, outcome: success}
  failed: {type: final, outcome: failure}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: m.error "the exit of `a`" -a +failed
              ! finish failure in failed
              = failed m={} n=0 done
        "#]],
    );
}

#[test]
fn a_failing_exit_action_of_the_machine_is_not_a_success() {
    check(
        r#"
initial: a
context: {m: {}, n: 0}
exit: {assign: {n: "${context.m.gone}"}}
states:
  a: {on: {go: done}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the exit of `m`","state":"m","values":{"context.m":{}}}
              = a m={} n=0 done
        "#]],
    );
}

#[test]
fn a_failing_reason_stops_the_transition() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: {target: done, reason: "because ${context.m.gone}"}}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the reason of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a m={} done
        "#]],
    );
}

#[test]
fn a_failing_input_of_an_activity_is_handled_before_another_region_begins() {
    check(
        r#"
initial: both
context: {m: {}}
states:
  both:
    type: parallel
    states:
      left: {initial: l1, states: {l1: {invoke: {activity: build, with: {n: "${context.m.gone}"}, signals: [built]}, on: {built: l2, error.execution: l3}}, l2: {}, l3: {}}}
      right: {initial: r1, states: {r1: {invoke: {activity: test, signals: [passed]}, on: {passed: r2}}, r2: {}}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +both +left +l1 +right +r1 fault "no such field: gone in `context.m.gone`"
              error.execution: l1.error.execution -l1 +l3 starts test
              ! start a1 test {}
              = l3 r1 m={}
        "#]],
    );
}

#[test]
fn an_unhandled_failing_input_cancels_what_has_begun() {
    check(
        r#"
initial: both
context: {m: {}}
states:
  both:
    type: parallel
    states:
      left: {initial: l1, states: {l1: {invoke: {activity: build, signals: [built]}, on: {built: l2}}, l2: {}}}
      right: {initial: r1, states: {r1: {invoke: {activity: test, with: {n: "${context.m.gone}"}, signals: [passed]}, on: {passed: r2}}, r2: {}}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +both +left +l1 +right +r1 starts build fault "no such field: gone in `context.m.gone`"
              error.execution:
              ! start a1 build {}
              ! cancel a1
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the input of `test` in `r1`","state":"r1","values":{"context.m":{}}}
              = l1 r1 m={} done
        "#]],
    );
}

#[test]
fn a_fault_while_a_fault_is_handled_ends_the_run() {
    check(
        r#"
initial: a
context: {m: {}}
on: {error: done}
states:
  a: {on: {go: {target: b, guard: "context.m.gone"}, error.execution: {target: b, reason: "${event.nothing}"}}}
  b: {}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: not a.error.execution (fault) fault "no such field: nothing in `event.nothing`"
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the guard of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a m={} done
        "#]],
    );
}

#[test]
fn a_guard_that_fails_while_a_fault_is_handled_ends_the_run() {
    check(
        r#"
initial: a
context: {m: {}}
on: {error: done}
states:
  a: {on: {go: {target: b, guard: "context.m.gone"}, error.execution: {target: b, guard: "event.nothing == 1"}}}
  b: {}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: not a.error.execution (fault) fault "no such field: nothing in `event.nothing == 1`"
              ! finish failure in m {"code":"EXECUTION","expression":"context.m.gone","message":"no such field: gone","place":"the guard of `go` in `a`","state":"a","values":{"context.m":{}}}
              = a m={} done
        "#]],
    );
}

#[test]
fn a_new_fault_after_one_that_was_handled_is_handled_too() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: {target: c, guard: "context.m.gone"}, error: b}}
  b: {always: {target: c, guard: "context.m.gone2"}, on: {error: asked}}
  c: {type: final, outcome: success}
  asked: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: not a.go (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: a.error -a +b
              *: not b.always (fault) fault "no such field: gone2 in `context.m.gone2`"
              error.execution: b.error -b +asked
              = asked m={}
        "#]],
    );
}

#[test]
fn a_handler_that_does_not_leave_a_failing_always_is_stopped() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: b}}
  b: {always: {target: done, guard: "context.m.gone"}, on: {error: {actions: [{log: again}]}}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: a.go -a +b
              *: not b.always (fault) fault "no such field: gone in `context.m.gone`"
              ... 2196 rounds ...
              *: not b.always (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: b.error log "again"
              ! finish failure in m {"code":"EXECUTION","expression":"","message":"no rest after 1000 rounds of one macrostep","place":"a step of `m`","state":"m","values":{}}
              = b m={} done
        "#]],
    );
}

#[test]
fn internal_events_wait_until_the_fault_is_handled() {
    check(
        r#"
initial: a
context: {m: {}}
states:
  a: {on: {go: {target: b, actions: [{raise: {event: finish}}]}}}
  b: {always: {target: c, guard: "context.m.gone"}, on: {finish: done, error: asked}}
  c: {}
  asked: {on: {finish: waiting}}
  waiting: {}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a m={}
            go
              go: a.go -a +b
              *: not b.always (fault) fault "no such field: gone in `context.m.gone`"
              error.execution: b.error -b +asked
              finish: asked.finish -asked +waiting
              = waiting m={}
        "#]],
    );
}

#[test]
fn a_start_that_fails_is_handled_in_the_initial_states() {
    check(
        r#"
context: {n: "${input.gone}"}
initial: a
on: {error: failed}
states: {a: {entry: {assign: {n: 1}}}, failed: {}}
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
fn a_start_that_fails_in_a_final_state_is_not_a_success() {
    check(
        r#"
context: {n: "${input.gone}"}
initial: done
states: {done: {type: final, outcome: success, data: {n: "${context.n}"}}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +done fault "no such field: gone in `input.gone`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"input.gone","message":"no such field: gone","place":"the initial value of `n`","state":"m","values":{"input":{}}}
              = done n=null done
        "#]],
    );
}

#[test]
fn a_start_that_fails_in_a_final_state_ends_in_failure_if_the_handler_stays() {
    check(
        r#"
context: {n: 0}
initial: done
on: {error: {assign: {n: 1}}}
states: {done: {type: final, outcome: success, data: {n: "${input.gone}"}}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +done fault "no such field: gone in `input.gone`"
              error.execution: m.error
              ! finish failure in m {"code":"EXECUTION","expression":"input.gone","message":"no such field: gone","place":"the data of `done`","state":"done","values":{"input":{}}}
              = done n=1 done
        "#]],
    );
}

#[test]
fn a_limit_that_the_input_does_not_have_stops_the_step() {
    check(
        r#"
input: {type: object, properties: {rounds: {type: integer, maximum: 3}}}
initial: a
states:
  a: {on: {go: [{target: a, limit: "${input.rounds}"}, done]}}
  done: {type: final, outcome: success}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: not a.go#1 (fault) fault "no such field: rounds in `input.rounds`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"input.rounds","message":"no such field: rounds","place":"the limit of `go` in `a`","state":"a","values":{"input":{}}}
              = a done
        "#]],
    );
}

#[test]
fn three_thousand_findings_do_not_turn_rejected_into_merged() {
    let findings = (0..3_000).map(|n| format!("{{\"id\": {n}}}")).collect::<Vec<_>>().join(",");
    check(
        r#"
initial: reviewing
states:
  reviewing:
    invoke: {activity: review, signals: [reviewed]}
    on:
      reviewed:
        - {target: rejected, guard: "event.findings.exists(a, event.findings.exists(b, a.id < b.id && a.id + b.id == 6000))"}
        - merged
  rejected: {type: final, outcome: failure}
  merged: {type: final, outcome: success}
"#,
        &format!("@review reviewed {{\"findings\": [{findings}]}}"),
        expect![[r#"
            start
              *: +m +reviewing starts review
              ! start a1 review {}
              = reviewing
            @review reviewed {"findings": [{"id": 0},{"id": 1},{"id": 2},{"id": 3},{"id": 4},{"id": 5},{"id": 6},{"id": 7},{"id": 8},{"id": 9},{"id": 10},{"id": 11},{"id": 12},{"id": 13},{"id": 14},{"id": 15},{"id": 16},{"id": 17},{"id": 18},{"id": 19},{"id": 20},{"id": 21},{"id": 22},{"id": 23},{"id": 24},{"id": 25},{"id": 26},{"id": 27},{"id": 28},{"id": 29},{"id": 30},{"id": 31},{"id": 32},{"id": 33},{"id": 34},{"id": 35},{"id": 36},{"id": 37},{"id": 38},{"id": 39},{"id": 40},{"id": 41},{"id": 42},{"id": 43},{"id": 44},{"id": 45},{"id": 46},{"id": 47},{"id": 48},{"id": 49},{"id": 50},{"id": 51},{"id": 52},{"id": 53},{"id": 54},{"id": 55},{"id": 56},{"id": 57},{"id": 58},{"id": 59},{"id": 60},{"id": 61},{"id": 62},{"id": 63},{"id": 64},{"id": 65},{"id": 66},{"id": 67},{"id": 68},{"id": 69},{"id": 70},{"id": 71},{"id": 72},{"id": 73},{"id": 74},{"id": 75},{"id": 76},{"id": 77},{"id": 78},{"id": 79},{"id": 80},{"id": 81},{"id": 82},{"id": 83},{"id": 84},{"id": 85},{"id": 86},{"id": 87},{"id": 88},{"id": 89},{"id": 90},{"id": 91},{"id": 92},{"id": 93},{"id": 94},{"id": 95},{"id": 96},{"id": 97},{"id": 98},{"id": 99},{"id": 100},{"id": 101},{"id": 102},{"id": 103},{"id": 104},{"id": 105},{"id": 106},{"id": 107},{"id": 108},{"id": 109},{"id": 110},{"id": 111},{"id": 112},{"id": 113},{"id": 114},{"id": 115},{"id": 116},{"id": 117},{"id": 118},{"id": 119},{"id": 120},{"id": 121},{"id": 122},{"id": 123},{"id": 124},{"id": 125},{"id": 126},{"id": 127},{"id": 128},{"id": 129},{"id": 130},{"id": 131},{"id": 132},{"id": 133},{"id": 134},{"id": 135},{"id": 136},{"id": 137},{"id": 138},{"id": 139},{"id": 140},{"id": 141},{"id": 142},{"id": 143},{"id": 144},{"id": 145},{"id": 146},{"id": 147},{"id": 148},{"id": 149},{"id": 150},{"id": 151},{"id": 152},{"id": 153},{"id": 154},{"id": 155},{"id": 156},{"id": 157},{"id": 158},{"id": 159},{"id": 160},{"id": 161},{"id": 162},{"id": 163},{"id": 164},{"id": 165},{"id": 166},{"id": 167},{"id": 168},{"id": 169},{"id": 170},{"id": 171},{"id": 172},{"id": 173},{"id": 174},{"id": 175},{"id": 176},{"id": 177},{"id": 178},{"id": 179},{"id": 180},{"id": 181},{"id": 182},{"id": 183},{"id": 184},{"id": 185},{"id": 186},{"id": 187},{"id": 188},{"id": 189},{"id": 190},{"id": 191},{"id": 192},{"id": 193},{"id": 194},{"id": 195},{"id": 196},{"id": 197},{"id": 198},{"id": 199},{"id": 200},{"id": 201},{"id": 202},{"id": 203},{"id": 204},{"id": 205},{"id": 206},{"id": 207},{"id": 208},{"id": 209},{"id": 210},{"id": 211},{"id": 212},{"id": 213},{"id": 214},{"id": 215},{"id": 216},{"id": 217},{"id": 218},{"id": 219},{"id": 220},{"id": 221},{"id": 222},{"id": 223},{"id": 224},{"id": 225},{"id": 226},{"id": 227},{"id": 228},{"id": 229},{"id": 230},{"id": 231},{"id": 232},{"id": 233},{"id": 234},{"id": 235},{"id": 236},{"id": 237},{"id": 238},{"id": 239},{"id": 240},{"id": 241},{"id": 242},{"id": 243},{"id": 244},{"id": 245},{"id": 246},{"id": 247},{"id": 248},{"id": 249},{"id": 250},{"id": 251},{"id": 252},{"id": 253},{"id": 254},{"id": 255},{"id": 256},{"id": 257},{"id": 258},{"id": 259},{"id": 260},{"id": 261},{"id": 262},{"id": 263},{"id": 264},{"id": 265},{"id": 266},{"id": 267},{"id": 268},{"id": 269},{"id": 270},{"id": 271},{"id": 272},{"id": 273},{"id": 274},{"id": 275},{"id": 276},{"id": 277},{"id": 278},{"id": 279},{"id": 280},{"id": 281},{"id": 282},{"id": 283},{"id": 284},{"id": 285},{"id": 286},{"id": 287},{"id": 288},{"id": 289},{"id": 290},{"id": 291},{"id": 292},{"id": 293},{"id": 294},{"id": 295},{"id": 296},{"id": 297},{"id": 298},{"id": 299},{"id": 300},{"id": 301},{"id": 302},{"id": 303},{"id": 304},{"id": 305},{"id": 306},{"id": 307},{"id": 308},{"id": 309},{"id": 310},{"id": 311},{"id": 312},{"id": 313},{"id": 314},{"id": 315},{"id": 316},{"id": 317},{"id": 318},{"id": 319},{"id": 320},{"id": 321},{"id": 322},{"id": 323},{"id": 324},{"id": 325},{"id": 326},{"id": 327},{"id": 328},{"id": 329},{"id": 330},{"id": 331},{"id": 332},{"id": 333},{"id": 334},{"id": 335},{"id": 336},{"id": 337},{"id": 338},{"id": 339},{"id": 340},{"id": 341},{"id": 342},{"id": 343},{"id": 344},{"id": 345},{"id": 346},{"id": 347},{"id": 348},{"id": 349},{"id": 350},{"id": 351},{"id": 352},{"id": 353},{"id": 354},{"id": 355},{"id": 356},{"id": 357},{"id": 358},{"id": 359},{"id": 360},{"id": 361},{"id": 362},{"id": 363},{"id": 364},{"id": 365},{"id": 366},{"id": 367},{"id": 368},{"id": 369},{"id": 370},{"id": 371},{"id": 372},{"id": 373},{"id": 374},{"id": 375},{"id": 376},{"id": 377},{"id": 378},{"id": 379},{"id": 380},{"id": 381},{"id": 382},{"id": 383},{"id": 384},{"id": 385},{"id": 386},{"id": 387},{"id": 388},{"id": 389},{"id": 390},{"id": 391},{"id": 392},{"id": 393},{"id": 394},{"id": 395},{"id": 396},{"id": 397},{"id": 398},{"id": 399},{"id": 400},{"id": 401},{"id": 402},{"id": 403},{"id": 404},{"id": 405},{"id": 406},{"id": 407},{"id": 408},{"id": 409},{"id": 410},{"id": 411},{"id": 412},{"id": 413},{"id": 414},{"id": 415},{"id": 416},{"id": 417},{"id": 418},{"id": 419},{"id": 420},{"id": 421},{"id": 422},{"id": 423},{"id": 424},{"id": 425},{"id": 426},{"id": 427},{"id": 428},{"id": 429},{"id": 430},{"id": 431},{"id": 432},{"id": 433},{"id": 434},{"id": 435},{"id": 436},{"id": 437},{"id": 438},{"id": 439},{"id": 440},{"id": 441},{"id": 442},{"id": 443},{"id": 444},{"id": 445},{"id": 446},{"id": 447},{"id": 448},{"id": 449},{"id": 450},{"id": 451},{"id": 452},{"id": 453},{"id": 454},{"id": 455},{"id": 456},{"id": 457},{"id": 458},{"id": 459},{"id": 460},{"id": 461},{"id": 462},{"id": 463},{"id": 464},{"id": 465},{"id": 466},{"id": 467},{"id": 468},{"id": 469},{"id": 470},{"id": 471},{"id": 472},{"id": 473},{"id": 474},{"id": 475},{"id": 476},{"id": 477},{"id": 478},{"id": 479},{"id": 480},{"id": 481},{"id": 482},{"id": 483},{"id": 484},{"id": 485},{"id": 486},{"id": 487},{"id": 488},{"id": 489},{"id": 490},{"id": 491},{"id": 492},{"id": 493},{"id": 494},{"id": 495},{"id": 496},{"id": 497},{"id": 498},{"id": 499},{"id": 500},{"id": 501},{"id": 502},{"id": 503},{"id": 504},{"id": 505},{"id": 506},{"id": 507},{"id": 508},{"id": 509},{"id": 510},{"id": 511},{"id": 512},{"id": 513},{"id": 514},{"id": 515},{"id": 516},{"id": 517},{"id": 518},{"id": 519},{"id": 520},{"id": 521},{"id": 522},{"id": 523},{"id": 524},{"id": 525},{"id": 526},{"id": 527},{"id": 528},{"id": 529},{"id": 530},{"id": 531},{"id": 532},{"id": 533},{"id": 534},{"id": 535},{"id": 536},{"id": 537},{"id": 538},{"id": 539},{"id": 540},{"id": 541},{"id": 542},{"id": 543},{"id": 544},{"id": 545},{"id": 546},{"id": 547},{"id": 548},{"id": 549},{"id": 550},{"id": 551},{"id": 552},{"id": 553},{"id": 554},{"id": 555},{"id": 556},{"id": 557},{"id": 558},{"id": 559},{"id": 560},{"id": 561},{"id": 562},{"id": 563},{"id": 564},{"id": 565},{"id": 566},{"id": 567},{"id": 568},{"id": 569},{"id": 570},{"id": 571},{"id": 572},{"id": 573},{"id": 574},{"id": 575},{"id": 576},{"id": 577},{"id": 578},{"id": 579},{"id": 580},{"id": 581},{"id": 582},{"id": 583},{"id": 584},{"id": 585},{"id": 586},{"id": 587},{"id": 588},{"id": 589},{"id": 590},{"id": 591},{"id": 592},{"id": 593},{"id": 594},{"id": 595},{"id": 596},{"id": 597},{"id": 598},{"id": 599},{"id": 600},{"id": 601},{"id": 602},{"id": 603},{"id": 604},{"id": 605},{"id": 606},{"id": 607},{"id": 608},{"id": 609},{"id": 610},{"id": 611},{"id": 612},{"id": 613},{"id": 614},{"id": 615},{"id": 616},{"id": 617},{"id": 618},{"id": 619},{"id": 620},{"id": 621},{"id": 622},{"id": 623},{"id": 624},{"id": 625},{"id": 626},{"id": 627},{"id": 628},{"id": 629},{"id": 630},{"id": 631},{"id": 632},{"id": 633},{"id": 634},{"id": 635},{"id": 636},{"id": 637},{"id": 638},{"id": 639},{"id": 640},{"id": 641},{"id": 642},{"id": 643},{"id": 644},{"id": 645},{"id": 646},{"id": 647},{"id": 648},{"id": 649},{"id": 650},{"id": 651},{"id": 652},{"id": 653},{"id": 654},{"id": 655},{"id": 656},{"id": 657},{"id": 658},{"id": 659},{"id": 660},{"id": 661},{"id": 662},{"id": 663},{"id": 664},{"id": 665},{"id": 666},{"id": 667},{"id": 668},{"id": 669},{"id": 670},{"id": 671},{"id": 672},{"id": 673},{"id": 674},{"id": 675},{"id": 676},{"id": 677},{"id": 678},{"id": 679},{"id": 680},{"id": 681},{"id": 682},{"id": 683},{"id": 684},{"id": 685},{"id": 686},{"id": 687},{"id": 688},{"id": 689},{"id": 690},{"id": 691},{"id": 692},{"id": 693},{"id": 694},{"id": 695},{"id": 696},{"id": 697},{"id": 698},{"id": 699},{"id": 700},{"id": 701},{"id": 702},{"id": 703},{"id": 704},{"id": 705},{"id": 706},{"id": 707},{"id": 708},{"id": 709},{"id": 710},{"id": 711},{"id": 712},{"id": 713},{"id": 714},{"id": 715},{"id": 716},{"id": 717},{"id": 718},{"id": 719},{"id": 720},{"id": 721},{"id": 722},{"id": 723},{"id": 724},{"id": 725},{"id": 726},{"id": 727},{"id": 728},{"id": 729},{"id": 730},{"id": 731},{"id": 732},{"id": 733},{"id": 734},{"id": 735},{"id": 736},{"id": 737},{"id": 738},{"id": 739},{"id": 740},{"id": 741},{"id": 742},{"id": 743},{"id": 744},{"id": 745},{"id": 746},{"id": 747},{"id": 748},{"id": 749},{"id": 750},{"id": 751},{"id": 752},{"id": 753},{"id": 754},{"id": 755},{"id": 756},{"id": 757},{"id": 758},{"id": 759},{"id": 760},{"id": 761},{"id": 762},{"id": 763},{"id": 764},{"id": 765},{"id": 766},{"id": 767},{"id": 768},{"id": 769},{"id": 770},{"id": 771},{"id": 772},{"id": 773},{"id": 774},{"id": 775},{"id": 776},{"id": 777},{"id": 778},{"id": 779},{"id": 780},{"id": 781},{"id": 782},{"id": 783},{"id": 784},{"id": 785},{"id": 786},{"id": 787},{"id": 788},{"id": 789},{"id": 790},{"id": 791},{"id": 792},{"id": 793},{"id": 794},{"id": 795},{"id": 796},{"id": 797},{"id": 798},{"id": 799},{"id": 800},{"id": 801},{"id": 802},{"id": 803},{"id": 804},{"id": 805},{"id": 806},{"id": 807},{"id": 808},{"id": 809},{"id": 810},{"id": 811},{"id": 812},{"id": 813},{"id": 814},{"id": 815},{"id": 816},{"id": 817},{"id": 818},{"id": 819},{"id": 820},{"id": 821},{"id": 822},{"id": 823},{"id": 824},{"id": 825},{"id": 826},{"id": 827},{"id": 828},{"id": 829},{"id": 830},{"id": 831},{"id": 832},{"id": 833},{"id": 834},{"id": 835},{"id": 836},{"id": 837},{"id": 838},{"id": 839},{"id": 840},{"id": 841},{"id": 842},{"id": 843},{"id": 844},{"id": 845},{"id": 846},{"id": 847},{"id": 848},{"id": 849},{"id": 850},{"id": 851},{"id": 852},{"id": 853},{"id": 854},{"id": 855},{"id": 856},{"id": 857},{"id": 858},{"id": 859},{"id": 860},{"id": 861},{"id": 862},{"id": 863},{"id": 864},{"id": 865},{"id": 866},{"id": 867},{"id": 868},{"id": 869},{"id": 870},{"id": 871},{"id": 872},{"id": 873},{"id": 874},{"id": 875},{"id": 876},{"id": 877},{"id": 878},{"id": 879},{"id": 880},{"id": 881},{"id": 882},{"id": 883},{"id": 884},{"id": 885},{"id": 886},{"id": 887},{"id": 888},{"id": 889},{"id": 890},{"id": 891},{"id": 892},{"id": 893},{"id": 894},{"id": 895},{"id": 896},{"id": 897},{"id": 898},{"id": 899},{"id": 900},{"id": 901},{"id": 902},{"id": 903},{"id": 904},{"id": 905},{"id": 906},{"id": 907},{"id": 908},{"id": 909},{"id": 910},{"id": 911},{"id": 912},{"id": 913},{"id": 914},{"id": 915},{"id": 916},{"id": 917},{"id": 918},{"id": 919},{"id": 920},{"id": 921},{"id": 922},{"id": 923},{"id": 924},{"id": 925},{"id": 926},{"id": 927},{"id": 928},{"id": 929},{"id": 930},{"id": 931},{"id": 932},{"id": 933},{"id": 934},{"id": 935},{"id": 936},{"id": 937},{"id": 938},{"id": 939},{"id": 940},{"id": 941},{"id": 942},{"id": 943},{"id": 944},{"id": 945},{"id": 946},{"id": 947},{"id": 948},{"id": 949},{"id": 950},{"id": 951},{"id": 952},{"id": 953},{"id": 954},{"id": 955},{"id": 956},{"id": 957},{"id": 958},{"id": 959},{"id": 960},{"id": 961},{"id": 962},{"id": 963},{"id": 964},{"id": 965},{"id": 966},{"id": 967},{"id": 968},{"id": 969},{"id": 970},{"id": 971},{"id": 972},{"id": 973},{"id": 974},{"id": 975},{"id": 976},{"id": 977},{"id": 978},{"id": 979},{"id": 980},{"id": 981},{"id": 982},{"id": 983},{"id": 984},{"id": 985},{"id": 986},{"id": 987},{"id": 988},{"id": 989},{"id": 990},{"id": 991},{"id": 992},{"id": 993},{"id": 994},{"id": 995},{"id": 996},{"id": 997},{"id": 998},{"id": 999},{"id": 1000},{"id": 1001},{"id": 1002},{"id": 1003},{"id": 1004},{"id": 1005},{"id": 1006},{"id": 1007},{"id": 1008},{"id": 1009},{"id": 1010},{"id": 1011},{"id": 1012},{"id": 1013},{"id": 1014},{"id": 1015},{"id": 1016},{"id": 1017},{"id": 1018},{"id": 1019},{"id": 1020},{"id": 1021},{"id": 1022},{"id": 1023},{"id": 1024},{"id": 1025},{"id": 1026},{"id": 1027},{"id": 1028},{"id": 1029},{"id": 1030},{"id": 1031},{"id": 1032},{"id": 1033},{"id": 1034},{"id": 1035},{"id": 1036},{"id": 1037},{"id": 1038},{"id": 1039},{"id": 1040},{"id": 1041},{"id": 1042},{"id": 1043},{"id": 1044},{"id": 1045},{"id": 1046},{"id": 1047},{"id": 1048},{"id": 1049},{"id": 1050},{"id": 1051},{"id": 1052},{"id": 1053},{"id": 1054},{"id": 1055},{"id": 1056},{"id": 1057},{"id": 1058},{"id": 1059},{"id": 1060},{"id": 1061},{"id": 1062},{"id": 1063},{"id": 1064},{"id": 1065},{"id": 1066},{"id": 1067},{"id": 1068},{"id": 1069},{"id": 1070},{"id": 1071},{"id": 1072},{"id": 1073},{"id": 1074},{"id": 1075},{"id": 1076},{"id": 1077},{"id": 1078},{"id": 1079},{"id": 1080},{"id": 1081},{"id": 1082},{"id": 1083},{"id": 1084},{"id": 1085},{"id": 1086},{"id": 1087},{"id": 1088},{"id": 1089},{"id": 1090},{"id": 1091},{"id": 1092},{"id": 1093},{"id": 1094},{"id": 1095},{"id": 1096},{"id": 1097},{"id": 1098},{"id": 1099},{"id": 1100},{"id": 1101},{"id": 1102},{"id": 1103},{"id": 1104},{"id": 1105},{"id": 1106},{"id": 1107},{"id": 1108},{"id": 1109},{"id": 1110},{"id": 1111},{"id": 1112},{"id": 1113},{"id": 1114},{"id": 1115},{"id": 1116},{"id": 1117},{"id": 1118},{"id": 1119},{"id": 1120},{"id": 1121},{"id": 1122},{"id": 1123},{"id": 1124},{"id": 1125},{"id": 1126},{"id": 1127},{"id": 1128},{"id": 1129},{"id": 1130},{"id": 1131},{"id": 1132},{"id": 1133},{"id": 1134},{"id": 1135},{"id": 1136},{"id": 1137},{"id": 1138},{"id": 1139},{"id": 1140},{"id": 1141},{"id": 1142},{"id": 1143},{"id": 1144},{"id": 1145},{"id": 1146},{"id": 1147},{"id": 1148},{"id": 1149},{"id": 1150},{"id": 1151},{"id": 1152},{"id": 1153},{"id": 1154},{"id": 1155},{"id": 1156},{"id": 1157},{"id": 1158},{"id": 1159},{"id": 1160},{"id": 1161},{"id": 1162},{"id": 1163},{"id": 1164},{"id": 1165},{"id": 1166},{"id": 1167},{"id": 1168},{"id": 1169},{"id": 1170},{"id": 1171},{"id": 1172},{"id": 1173},{"id": 1174},{"id": 1175},{"id": 1176},{"id": 1177},{"id": 1178},{"id": 1179},{"id": 1180},{"id": 1181},{"id": 1182},{"id": 1183},{"id": 1184},{"id": 1185},{"id": 1186},{"id": 1187},{"id": 1188},{"id": 1189},{"id": 1190},{"id": 1191},{"id": 1192},{"id": 1193},{"id": 1194},{"id": 1195},{"id": 1196},{"id": 1197},{"id": 1198},{"id": 1199},{"id": 1200},{"id": 1201},{"id": 1202},{"id": 1203},{"id": 1204},{"id": 1205},{"id": 1206},{"id": 1207},{"id": 1208},{"id": 1209},{"id": 1210},{"id": 1211},{"id": 1212},{"id": 1213},{"id": 1214},{"id": 1215},{"id": 1216},{"id": 1217},{"id": 1218},{"id": 1219},{"id": 1220},{"id": 1221},{"id": 1222},{"id": 1223},{"id": 1224},{"id": 1225},{"id": 1226},{"id": 1227},{"id": 1228},{"id": 1229},{"id": 1230},{"id": 1231},{"id": 1232},{"id": 1233},{"id": 1234},{"id": 1235},{"id": 1236},{"id": 1237},{"id": 1238},{"id": 1239},{"id": 1240},{"id": 1241},{"id": 1242},{"id": 1243},{"id": 1244},{"id": 1245},{"id": 1246},{"id": 1247},{"id": 1248},{"id": 1249},{"id": 1250},{"id": 1251},{"id": 1252},{"id": 1253},{"id": 1254},{"id": 1255},{"id": 1256},{"id": 1257},{"id": 1258},{"id": 1259},{"id": 1260},{"id": 1261},{"id": 1262},{"id": 1263},{"id": 1264},{"id": 1265},{"id": 1266},{"id": 1267},{"id": 1268},{"id": 1269},{"id": 1270},{"id": 1271},{"id": 1272},{"id": 1273},{"id": 1274},{"id": 1275},{"id": 1276},{"id": 1277},{"id": 1278},{"id": 1279},{"id": 1280},{"id": 1281},{"id": 1282},{"id": 1283},{"id": 1284},{"id": 1285},{"id": 1286},{"id": 1287},{"id": 1288},{"id": 1289},{"id": 1290},{"id": 1291},{"id": 1292},{"id": 1293},{"id": 1294},{"id": 1295},{"id": 1296},{"id": 1297},{"id": 1298},{"id": 1299},{"id": 1300},{"id": 1301},{"id": 1302},{"id": 1303},{"id": 1304},{"id": 1305},{"id": 1306},{"id": 1307},{"id": 1308},{"id": 1309},{"id": 1310},{"id": 1311},{"id": 1312},{"id": 1313},{"id": 1314},{"id": 1315},{"id": 1316},{"id": 1317},{"id": 1318},{"id": 1319},{"id": 1320},{"id": 1321},{"id": 1322},{"id": 1323},{"id": 1324},{"id": 1325},{"id": 1326},{"id": 1327},{"id": 1328},{"id": 1329},{"id": 1330},{"id": 1331},{"id": 1332},{"id": 1333},{"id": 1334},{"id": 1335},{"id": 1336},{"id": 1337},{"id": 1338},{"id": 1339},{"id": 1340},{"id": 1341},{"id": 1342},{"id": 1343},{"id": 1344},{"id": 1345},{"id": 1346},{"id": 1347},{"id": 1348},{"id": 1349},{"id": 1350},{"id": 1351},{"id": 1352},{"id": 1353},{"id": 1354},{"id": 1355},{"id": 1356},{"id": 1357},{"id": 1358},{"id": 1359},{"id": 1360},{"id": 1361},{"id": 1362},{"id": 1363},{"id": 1364},{"id": 1365},{"id": 1366},{"id": 1367},{"id": 1368},{"id": 1369},{"id": 1370},{"id": 1371},{"id": 1372},{"id": 1373},{"id": 1374},{"id": 1375},{"id": 1376},{"id": 1377},{"id": 1378},{"id": 1379},{"id": 1380},{"id": 1381},{"id": 1382},{"id": 1383},{"id": 1384},{"id": 1385},{"id": 1386},{"id": 1387},{"id": 1388},{"id": 1389},{"id": 1390},{"id": 1391},{"id": 1392},{"id": 1393},{"id": 1394},{"id": 1395},{"id": 1396},{"id": 1397},{"id": 1398},{"id": 1399},{"id": 1400},{"id": 1401},{"id": 1402},{"id": 1403},{"id": 1404},{"id": 1405},{"id": 1406},{"id": 1407},{"id": 1408},{"id": 1409},{"id": 1410},{"id": 1411},{"id": 1412},{"id": 1413},{"id": 1414},{"id": 1415},{"id": 1416},{"id": 1417},{"id": 1418},{"id": 1419},{"id": 1420},{"id": 1421},{"id": 1422},{"id": 1423},{"id": 1424},{"id": 1425},{"id": 1426},{"id": 1427},{"id": 1428},{"id": 1429},{"id": 1430},{"id": 1431},{"id": 1432},{"id": 1433},{"id": 1434},{"id": 1435},{"id": 1436},{"id": 1437},{"id": 1438},{"id": 1439},{"id": 1440},{"id": 1441},{"id": 1442},{"id": 1443},{"id": 1444},{"id": 1445},{"id": 1446},{"id": 1447},{"id": 1448},{"id": 1449},{"id": 1450},{"id": 1451},{"id": 1452},{"id": 1453},{"id": 1454},{"id": 1455},{"id": 1456},{"id": 1457},{"id": 1458},{"id": 1459},{"id": 1460},{"id": 1461},{"id": 1462},{"id": 1463},{"id": 1464},{"id": 1465},{"id": 1466},{"id": 1467},{"id": 1468},{"id": 1469},{"id": 1470},{"id": 1471},{"id": 1472},{"id": 1473},{"id": 1474},{"id": 1475},{"id": 1476},{"id": 1477},{"id": 1478},{"id": 1479},{"id": 1480},{"id": 1481},{"id": 1482},{"id": 1483},{"id": 1484},{"id": 1485},{"id": 1486},{"id": 1487},{"id": 1488},{"id": 1489},{"id": 1490},{"id": 1491},{"id": 1492},{"id": 1493},{"id": 1494},{"id": 1495},{"id": 1496},{"id": 1497},{"id": 1498},{"id": 1499},{"id": 1500},{"id": 1501},{"id": 1502},{"id": 1503},{"id": 1504},{"id": 1505},{"id": 1506},{"id": 1507},{"id": 1508},{"id": 1509},{"id": 1510},{"id": 1511},{"id": 1512},{"id": 1513},{"id": 1514},{"id": 1515},{"id": 1516},{"id": 1517},{"id": 1518},{"id": 1519},{"id": 1520},{"id": 1521},{"id": 1522},{"id": 1523},{"id": 1524},{"id": 1525},{"id": 1526},{"id": 1527},{"id": 1528},{"id": 1529},{"id": 1530},{"id": 1531},{"id": 1532},{"id": 1533},{"id": 1534},{"id": 1535},{"id": 1536},{"id": 1537},{"id": 1538},{"id": 1539},{"id": 1540},{"id": 1541},{"id": 1542},{"id": 1543},{"id": 1544},{"id": 1545},{"id": 1546},{"id": 1547},{"id": 1548},{"id": 1549},{"id": 1550},{"id": 1551},{"id": 1552},{"id": 1553},{"id": 1554},{"id": 1555},{"id": 1556},{"id": 1557},{"id": 1558},{"id": 1559},{"id": 1560},{"id": 1561},{"id": 1562},{"id": 1563},{"id": 1564},{"id": 1565},{"id": 1566},{"id": 1567},{"id": 1568},{"id": 1569},{"id": 1570},{"id": 1571},{"id": 1572},{"id": 1573},{"id": 1574},{"id": 1575},{"id": 1576},{"id": 1577},{"id": 1578},{"id": 1579},{"id": 1580},{"id": 1581},{"id": 1582},{"id": 1583},{"id": 1584},{"id": 1585},{"id": 1586},{"id": 1587},{"id": 1588},{"id": 1589},{"id": 1590},{"id": 1591},{"id": 1592},{"id": 1593},{"id": 1594},{"id": 1595},{"id": 1596},{"id": 1597},{"id": 1598},{"id": 1599},{"id": 1600},{"id": 1601},{"id": 1602},{"id": 1603},{"id": 1604},{"id": 1605},{"id": 1606},{"id": 1607},{"id": 1608},{"id": 1609},{"id": 1610},{"id": 1611},{"id": 1612},{"id": 1613},{"id": 1614},{"id": 1615},{"id": 1616},{"id": 1617},{"id": 1618},{"id": 1619},{"id": 1620},{"id": 1621},{"id": 1622},{"id": 1623},{"id": 1624},{"id": 1625},{"id": 1626},{"id": 1627},{"id": 1628},{"id": 1629},{"id": 1630},{"id": 1631},{"id": 1632},{"id": 1633},{"id": 1634},{"id": 1635},{"id": 1636},{"id": 1637},{"id": 1638},{"id": 1639},{"id": 1640},{"id": 1641},{"id": 1642},{"id": 1643},{"id": 1644},{"id": 1645},{"id": 1646},{"id": 1647},{"id": 1648},{"id": 1649},{"id": 1650},{"id": 1651},{"id": 1652},{"id": 1653},{"id": 1654},{"id": 1655},{"id": 1656},{"id": 1657},{"id": 1658},{"id": 1659},{"id": 1660},{"id": 1661},{"id": 1662},{"id": 1663},{"id": 1664},{"id": 1665},{"id": 1666},{"id": 1667},{"id": 1668},{"id": 1669},{"id": 1670},{"id": 1671},{"id": 1672},{"id": 1673},{"id": 1674},{"id": 1675},{"id": 1676},{"id": 1677},{"id": 1678},{"id": 1679},{"id": 1680},{"id": 1681},{"id": 1682},{"id": 1683},{"id": 1684},{"id": 1685},{"id": 1686},{"id": 1687},{"id": 1688},{"id": 1689},{"id": 1690},{"id": 1691},{"id": 1692},{"id": 1693},{"id": 1694},{"id": 1695},{"id": 1696},{"id": 1697},{"id": 1698},{"id": 1699},{"id": 1700},{"id": 1701},{"id": 1702},{"id": 1703},{"id": 1704},{"id": 1705},{"id": 1706},{"id": 1707},{"id": 1708},{"id": 1709},{"id": 1710},{"id": 1711},{"id": 1712},{"id": 1713},{"id": 1714},{"id": 1715},{"id": 1716},{"id": 1717},{"id": 1718},{"id": 1719},{"id": 1720},{"id": 1721},{"id": 1722},{"id": 1723},{"id": 1724},{"id": 1725},{"id": 1726},{"id": 1727},{"id": 1728},{"id": 1729},{"id": 1730},{"id": 1731},{"id": 1732},{"id": 1733},{"id": 1734},{"id": 1735},{"id": 1736},{"id": 1737},{"id": 1738},{"id": 1739},{"id": 1740},{"id": 1741},{"id": 1742},{"id": 1743},{"id": 1744},{"id": 1745},{"id": 1746},{"id": 1747},{"id": 1748},{"id": 1749},{"id": 1750},{"id": 1751},{"id": 1752},{"id": 1753},{"id": 1754},{"id": 1755},{"id": 1756},{"id": 1757},{"id": 1758},{"id": 1759},{"id": 1760},{"id": 1761},{"id": 1762},{"id": 1763},{"id": 1764},{"id": 1765},{"id": 1766},{"id": 1767},{"id": 1768},{"id": 1769},{"id": 1770},{"id": 1771},{"id": 1772},{"id": 1773},{"id": 1774},{"id": 1775},{"id": 1776},{"id": 1777},{"id": 1778},{"id": 1779},{"id": 1780},{"id": 1781},{"id": 1782},{"id": 1783},{"id": 1784},{"id": 1785},{"id": 1786},{"id": 1787},{"id": 1788},{"id": 1789},{"id": 1790},{"id": 1791},{"id": 1792},{"id": 1793},{"id": 1794},{"id": 1795},{"id": 1796},{"id": 1797},{"id": 1798},{"id": 1799},{"id": 1800},{"id": 1801},{"id": 1802},{"id": 1803},{"id": 1804},{"id": 1805},{"id": 1806},{"id": 1807},{"id": 1808},{"id": 1809},{"id": 1810},{"id": 1811},{"id": 1812},{"id": 1813},{"id": 1814},{"id": 1815},{"id": 1816},{"id": 1817},{"id": 1818},{"id": 1819},{"id": 1820},{"id": 1821},{"id": 1822},{"id": 1823},{"id": 1824},{"id": 1825},{"id": 1826},{"id": 1827},{"id": 1828},{"id": 1829},{"id": 1830},{"id": 1831},{"id": 1832},{"id": 1833},{"id": 1834},{"id": 1835},{"id": 1836},{"id": 1837},{"id": 1838},{"id": 1839},{"id": 1840},{"id": 1841},{"id": 1842},{"id": 1843},{"id": 1844},{"id": 1845},{"id": 1846},{"id": 1847},{"id": 1848},{"id": 1849},{"id": 1850},{"id": 1851},{"id": 1852},{"id": 1853},{"id": 1854},{"id": 1855},{"id": 1856},{"id": 1857},{"id": 1858},{"id": 1859},{"id": 1860},{"id": 1861},{"id": 1862},{"id": 1863},{"id": 1864},{"id": 1865},{"id": 1866},{"id": 1867},{"id": 1868},{"id": 1869},{"id": 1870},{"id": 1871},{"id": 1872},{"id": 1873},{"id": 1874},{"id": 1875},{"id": 1876},{"id": 1877},{"id": 1878},{"id": 1879},{"id": 1880},{"id": 1881},{"id": 1882},{"id": 1883},{"id": 1884},{"id": 1885},{"id": 1886},{"id": 1887},{"id": 1888},{"id": 1889},{"id": 1890},{"id": 1891},{"id": 1892},{"id": 1893},{"id": 1894},{"id": 1895},{"id": 1896},{"id": 1897},{"id": 1898},{"id": 1899},{"id": 1900},{"id": 1901},{"id": 1902},{"id": 1903},{"id": 1904},{"id": 1905},{"id": 1906},{"id": 1907},{"id": 1908},{"id": 1909},{"id": 1910},{"id": 1911},{"id": 1912},{"id": 1913},{"id": 1914},{"id": 1915},{"id": 1916},{"id": 1917},{"id": 1918},{"id": 1919},{"id": 1920},{"id": 1921},{"id": 1922},{"id": 1923},{"id": 1924},{"id": 1925},{"id": 1926},{"id": 1927},{"id": 1928},{"id": 1929},{"id": 1930},{"id": 1931},{"id": 1932},{"id": 1933},{"id": 1934},{"id": 1935},{"id": 1936},{"id": 1937},{"id": 1938},{"id": 1939},{"id": 1940},{"id": 1941},{"id": 1942},{"id": 1943},{"id": 1944},{"id": 1945},{"id": 1946},{"id": 1947},{"id": 1948},{"id": 1949},{"id": 1950},{"id": 1951},{"id": 1952},{"id": 1953},{"id": 1954},{"id": 1955},{"id": 1956},{"id": 1957},{"id": 1958},{"id": 1959},{"id": 1960},{"id": 1961},{"id": 1962},{"id": 1963},{"id": 1964},{"id": 1965},{"id": 1966},{"id": 1967},{"id": 1968},{"id": 1969},{"id": 1970},{"id": 1971},{"id": 1972},{"id": 1973},{"id": 1974},{"id": 1975},{"id": 1976},{"id": 1977},{"id": 1978},{"id": 1979},{"id": 1980},{"id": 1981},{"id": 1982},{"id": 1983},{"id": 1984},{"id": 1985},{"id": 1986},{"id": 1987},{"id": 1988},{"id": 1989},{"id": 1990},{"id": 1991},{"id": 1992},{"id": 1993},{"id": 1994},{"id": 1995},{"id": 1996},{"id": 1997},{"id": 1998},{"id": 1999},{"id": 2000},{"id": 2001},{"id": 2002},{"id": 2003},{"id": 2004},{"id": 2005},{"id": 2006},{"id": 2007},{"id": 2008},{"id": 2009},{"id": 2010},{"id": 2011},{"id": 2012},{"id": 2013},{"id": 2014},{"id": 2015},{"id": 2016},{"id": 2017},{"id": 2018},{"id": 2019},{"id": 2020},{"id": 2021},{"id": 2022},{"id": 2023},{"id": 2024},{"id": 2025},{"id": 2026},{"id": 2027},{"id": 2028},{"id": 2029},{"id": 2030},{"id": 2031},{"id": 2032},{"id": 2033},{"id": 2034},{"id": 2035},{"id": 2036},{"id": 2037},{"id": 2038},{"id": 2039},{"id": 2040},{"id": 2041},{"id": 2042},{"id": 2043},{"id": 2044},{"id": 2045},{"id": 2046},{"id": 2047},{"id": 2048},{"id": 2049},{"id": 2050},{"id": 2051},{"id": 2052},{"id": 2053},{"id": 2054},{"id": 2055},{"id": 2056},{"id": 2057},{"id": 2058},{"id": 2059},{"id": 2060},{"id": 2061},{"id": 2062},{"id": 2063},{"id": 2064},{"id": 2065},{"id": 2066},{"id": 2067},{"id": 2068},{"id": 2069},{"id": 2070},{"id": 2071},{"id": 2072},{"id": 2073},{"id": 2074},{"id": 2075},{"id": 2076},{"id": 2077},{"id": 2078},{"id": 2079},{"id": 2080},{"id": 2081},{"id": 2082},{"id": 2083},{"id": 2084},{"id": 2085},{"id": 2086},{"id": 2087},{"id": 2088},{"id": 2089},{"id": 2090},{"id": 2091},{"id": 2092},{"id": 2093},{"id": 2094},{"id": 2095},{"id": 2096},{"id": 2097},{"id": 2098},{"id": 2099},{"id": 2100},{"id": 2101},{"id": 2102},{"id": 2103},{"id": 2104},{"id": 2105},{"id": 2106},{"id": 2107},{"id": 2108},{"id": 2109},{"id": 2110},{"id": 2111},{"id": 2112},{"id": 2113},{"id": 2114},{"id": 2115},{"id": 2116},{"id": 2117},{"id": 2118},{"id": 2119},{"id": 2120},{"id": 2121},{"id": 2122},{"id": 2123},{"id": 2124},{"id": 2125},{"id": 2126},{"id": 2127},{"id": 2128},{"id": 2129},{"id": 2130},{"id": 2131},{"id": 2132},{"id": 2133},{"id": 2134},{"id": 2135},{"id": 2136},{"id": 2137},{"id": 2138},{"id": 2139},{"id": 2140},{"id": 2141},{"id": 2142},{"id": 2143},{"id": 2144},{"id": 2145},{"id": 2146},{"id": 2147},{"id": 2148},{"id": 2149},{"id": 2150},{"id": 2151},{"id": 2152},{"id": 2153},{"id": 2154},{"id": 2155},{"id": 2156},{"id": 2157},{"id": 2158},{"id": 2159},{"id": 2160},{"id": 2161},{"id": 2162},{"id": 2163},{"id": 2164},{"id": 2165},{"id": 2166},{"id": 2167},{"id": 2168},{"id": 2169},{"id": 2170},{"id": 2171},{"id": 2172},{"id": 2173},{"id": 2174},{"id": 2175},{"id": 2176},{"id": 2177},{"id": 2178},{"id": 2179},{"id": 2180},{"id": 2181},{"id": 2182},{"id": 2183},{"id": 2184},{"id": 2185},{"id": 2186},{"id": 2187},{"id": 2188},{"id": 2189},{"id": 2190},{"id": 2191},{"id": 2192},{"id": 2193},{"id": 2194},{"id": 2195},{"id": 2196},{"id": 2197},{"id": 2198},{"id": 2199},{"id": 2200},{"id": 2201},{"id": 2202},{"id": 2203},{"id": 2204},{"id": 2205},{"id": 2206},{"id": 2207},{"id": 2208},{"id": 2209},{"id": 2210},{"id": 2211},{"id": 2212},{"id": 2213},{"id": 2214},{"id": 2215},{"id": 2216},{"id": 2217},{"id": 2218},{"id": 2219},{"id": 2220},{"id": 2221},{"id": 2222},{"id": 2223},{"id": 2224},{"id": 2225},{"id": 2226},{"id": 2227},{"id": 2228},{"id": 2229},{"id": 2230},{"id": 2231},{"id": 2232},{"id": 2233},{"id": 2234},{"id": 2235},{"id": 2236},{"id": 2237},{"id": 2238},{"id": 2239},{"id": 2240},{"id": 2241},{"id": 2242},{"id": 2243},{"id": 2244},{"id": 2245},{"id": 2246},{"id": 2247},{"id": 2248},{"id": 2249},{"id": 2250},{"id": 2251},{"id": 2252},{"id": 2253},{"id": 2254},{"id": 2255},{"id": 2256},{"id": 2257},{"id": 2258},{"id": 2259},{"id": 2260},{"id": 2261},{"id": 2262},{"id": 2263},{"id": 2264},{"id": 2265},{"id": 2266},{"id": 2267},{"id": 2268},{"id": 2269},{"id": 2270},{"id": 2271},{"id": 2272},{"id": 2273},{"id": 2274},{"id": 2275},{"id": 2276},{"id": 2277},{"id": 2278},{"id": 2279},{"id": 2280},{"id": 2281},{"id": 2282},{"id": 2283},{"id": 2284},{"id": 2285},{"id": 2286},{"id": 2287},{"id": 2288},{"id": 2289},{"id": 2290},{"id": 2291},{"id": 2292},{"id": 2293},{"id": 2294},{"id": 2295},{"id": 2296},{"id": 2297},{"id": 2298},{"id": 2299},{"id": 2300},{"id": 2301},{"id": 2302},{"id": 2303},{"id": 2304},{"id": 2305},{"id": 2306},{"id": 2307},{"id": 2308},{"id": 2309},{"id": 2310},{"id": 2311},{"id": 2312},{"id": 2313},{"id": 2314},{"id": 2315},{"id": 2316},{"id": 2317},{"id": 2318},{"id": 2319},{"id": 2320},{"id": 2321},{"id": 2322},{"id": 2323},{"id": 2324},{"id": 2325},{"id": 2326},{"id": 2327},{"id": 2328},{"id": 2329},{"id": 2330},{"id": 2331},{"id": 2332},{"id": 2333},{"id": 2334},{"id": 2335},{"id": 2336},{"id": 2337},{"id": 2338},{"id": 2339},{"id": 2340},{"id": 2341},{"id": 2342},{"id": 2343},{"id": 2344},{"id": 2345},{"id": 2346},{"id": 2347},{"id": 2348},{"id": 2349},{"id": 2350},{"id": 2351},{"id": 2352},{"id": 2353},{"id": 2354},{"id": 2355},{"id": 2356},{"id": 2357},{"id": 2358},{"id": 2359},{"id": 2360},{"id": 2361},{"id": 2362},{"id": 2363},{"id": 2364},{"id": 2365},{"id": 2366},{"id": 2367},{"id": 2368},{"id": 2369},{"id": 2370},{"id": 2371},{"id": 2372},{"id": 2373},{"id": 2374},{"id": 2375},{"id": 2376},{"id": 2377},{"id": 2378},{"id": 2379},{"id": 2380},{"id": 2381},{"id": 2382},{"id": 2383},{"id": 2384},{"id": 2385},{"id": 2386},{"id": 2387},{"id": 2388},{"id": 2389},{"id": 2390},{"id": 2391},{"id": 2392},{"id": 2393},{"id": 2394},{"id": 2395},{"id": 2396},{"id": 2397},{"id": 2398},{"id": 2399},{"id": 2400},{"id": 2401},{"id": 2402},{"id": 2403},{"id": 2404},{"id": 2405},{"id": 2406},{"id": 2407},{"id": 2408},{"id": 2409},{"id": 2410},{"id": 2411},{"id": 2412},{"id": 2413},{"id": 2414},{"id": 2415},{"id": 2416},{"id": 2417},{"id": 2418},{"id": 2419},{"id": 2420},{"id": 2421},{"id": 2422},{"id": 2423},{"id": 2424},{"id": 2425},{"id": 2426},{"id": 2427},{"id": 2428},{"id": 2429},{"id": 2430},{"id": 2431},{"id": 2432},{"id": 2433},{"id": 2434},{"id": 2435},{"id": 2436},{"id": 2437},{"id": 2438},{"id": 2439},{"id": 2440},{"id": 2441},{"id": 2442},{"id": 2443},{"id": 2444},{"id": 2445},{"id": 2446},{"id": 2447},{"id": 2448},{"id": 2449},{"id": 2450},{"id": 2451},{"id": 2452},{"id": 2453},{"id": 2454},{"id": 2455},{"id": 2456},{"id": 2457},{"id": 2458},{"id": 2459},{"id": 2460},{"id": 2461},{"id": 2462},{"id": 2463},{"id": 2464},{"id": 2465},{"id": 2466},{"id": 2467},{"id": 2468},{"id": 2469},{"id": 2470},{"id": 2471},{"id": 2472},{"id": 2473},{"id": 2474},{"id": 2475},{"id": 2476},{"id": 2477},{"id": 2478},{"id": 2479},{"id": 2480},{"id": 2481},{"id": 2482},{"id": 2483},{"id": 2484},{"id": 2485},{"id": 2486},{"id": 2487},{"id": 2488},{"id": 2489},{"id": 2490},{"id": 2491},{"id": 2492},{"id": 2493},{"id": 2494},{"id": 2495},{"id": 2496},{"id": 2497},{"id": 2498},{"id": 2499},{"id": 2500},{"id": 2501},{"id": 2502},{"id": 2503},{"id": 2504},{"id": 2505},{"id": 2506},{"id": 2507},{"id": 2508},{"id": 2509},{"id": 2510},{"id": 2511},{"id": 2512},{"id": 2513},{"id": 2514},{"id": 2515},{"id": 2516},{"id": 2517},{"id": 2518},{"id": 2519},{"id": 2520},{"id": 2521},{"id": 2522},{"id": 2523},{"id": 2524},{"id": 2525},{"id": 2526},{"id": 2527},{"id": 2528},{"id": 2529},{"id": 2530},{"id": 2531},{"id": 2532},{"id": 2533},{"id": 2534},{"id": 2535},{"id": 2536},{"id": 2537},{"id": 2538},{"id": 2539},{"id": 2540},{"id": 2541},{"id": 2542},{"id": 2543},{"id": 2544},{"id": 2545},{"id": 2546},{"id": 2547},{"id": 2548},{"id": 2549},{"id": 2550},{"id": 2551},{"id": 2552},{"id": 2553},{"id": 2554},{"id": 2555},{"id": 2556},{"id": 2557},{"id": 2558},{"id": 2559},{"id": 2560},{"id": 2561},{"id": 2562},{"id": 2563},{"id": 2564},{"id": 2565},{"id": 2566},{"id": 2567},{"id": 2568},{"id": 2569},{"id": 2570},{"id": 2571},{"id": 2572},{"id": 2573},{"id": 2574},{"id": 2575},{"id": 2576},{"id": 2577},{"id": 2578},{"id": 2579},{"id": 2580},{"id": 2581},{"id": 2582},{"id": 2583},{"id": 2584},{"id": 2585},{"id": 2586},{"id": 2587},{"id": 2588},{"id": 2589},{"id": 2590},{"id": 2591},{"id": 2592},{"id": 2593},{"id": 2594},{"id": 2595},{"id": 2596},{"id": 2597},{"id": 2598},{"id": 2599},{"id": 2600},{"id": 2601},{"id": 2602},{"id": 2603},{"id": 2604},{"id": 2605},{"id": 2606},{"id": 2607},{"id": 2608},{"id": 2609},{"id": 2610},{"id": 2611},{"id": 2612},{"id": 2613},{"id": 2614},{"id": 2615},{"id": 2616},{"id": 2617},{"id": 2618},{"id": 2619},{"id": 2620},{"id": 2621},{"id": 2622},{"id": 2623},{"id": 2624},{"id": 2625},{"id": 2626},{"id": 2627},{"id": 2628},{"id": 2629},{"id": 2630},{"id": 2631},{"id": 2632},{"id": 2633},{"id": 2634},{"id": 2635},{"id": 2636},{"id": 2637},{"id": 2638},{"id": 2639},{"id": 2640},{"id": 2641},{"id": 2642},{"id": 2643},{"id": 2644},{"id": 2645},{"id": 2646},{"id": 2647},{"id": 2648},{"id": 2649},{"id": 2650},{"id": 2651},{"id": 2652},{"id": 2653},{"id": 2654},{"id": 2655},{"id": 2656},{"id": 2657},{"id": 2658},{"id": 2659},{"id": 2660},{"id": 2661},{"id": 2662},{"id": 2663},{"id": 2664},{"id": 2665},{"id": 2666},{"id": 2667},{"id": 2668},{"id": 2669},{"id": 2670},{"id": 2671},{"id": 2672},{"id": 2673},{"id": 2674},{"id": 2675},{"id": 2676},{"id": 2677},{"id": 2678},{"id": 2679},{"id": 2680},{"id": 2681},{"id": 2682},{"id": 2683},{"id": 2684},{"id": 2685},{"id": 2686},{"id": 2687},{"id": 2688},{"id": 2689},{"id": 2690},{"id": 2691},{"id": 2692},{"id": 2693},{"id": 2694},{"id": 2695},{"id": 2696},{"id": 2697},{"id": 2698},{"id": 2699},{"id": 2700},{"id": 2701},{"id": 2702},{"id": 2703},{"id": 2704},{"id": 2705},{"id": 2706},{"id": 2707},{"id": 2708},{"id": 2709},{"id": 2710},{"id": 2711},{"id": 2712},{"id": 2713},{"id": 2714},{"id": 2715},{"id": 2716},{"id": 2717},{"id": 2718},{"id": 2719},{"id": 2720},{"id": 2721},{"id": 2722},{"id": 2723},{"id": 2724},{"id": 2725},{"id": 2726},{"id": 2727},{"id": 2728},{"id": 2729},{"id": 2730},{"id": 2731},{"id": 2732},{"id": 2733},{"id": 2734},{"id": 2735},{"id": 2736},{"id": 2737},{"id": 2738},{"id": 2739},{"id": 2740},{"id": 2741},{"id": 2742},{"id": 2743},{"id": 2744},{"id": 2745},{"id": 2746},{"id": 2747},{"id": 2748},{"id": 2749},{"id": 2750},{"id": 2751},{"id": 2752},{"id": 2753},{"id": 2754},{"id": 2755},{"id": 2756},{"id": 2757},{"id": 2758},{"id": 2759},{"id": 2760},{"id": 2761},{"id": 2762},{"id": 2763},{"id": 2764},{"id": 2765},{"id": 2766},{"id": 2767},{"id": 2768},{"id": 2769},{"id": 2770},{"id": 2771},{"id": 2772},{"id": 2773},{"id": 2774},{"id": 2775},{"id": 2776},{"id": 2777},{"id": 2778},{"id": 2779},{"id": 2780},{"id": 2781},{"id": 2782},{"id": 2783},{"id": 2784},{"id": 2785},{"id": 2786},{"id": 2787},{"id": 2788},{"id": 2789},{"id": 2790},{"id": 2791},{"id": 2792},{"id": 2793},{"id": 2794},{"id": 2795},{"id": 2796},{"id": 2797},{"id": 2798},{"id": 2799},{"id": 2800},{"id": 2801},{"id": 2802},{"id": 2803},{"id": 2804},{"id": 2805},{"id": 2806},{"id": 2807},{"id": 2808},{"id": 2809},{"id": 2810},{"id": 2811},{"id": 2812},{"id": 2813},{"id": 2814},{"id": 2815},{"id": 2816},{"id": 2817},{"id": 2818},{"id": 2819},{"id": 2820},{"id": 2821},{"id": 2822},{"id": 2823},{"id": 2824},{"id": 2825},{"id": 2826},{"id": 2827},{"id": 2828},{"id": 2829},{"id": 2830},{"id": 2831},{"id": 2832},{"id": 2833},{"id": 2834},{"id": 2835},{"id": 2836},{"id": 2837},{"id": 2838},{"id": 2839},{"id": 2840},{"id": 2841},{"id": 2842},{"id": 2843},{"id": 2844},{"id": 2845},{"id": 2846},{"id": 2847},{"id": 2848},{"id": 2849},{"id": 2850},{"id": 2851},{"id": 2852},{"id": 2853},{"id": 2854},{"id": 2855},{"id": 2856},{"id": 2857},{"id": 2858},{"id": 2859},{"id": 2860},{"id": 2861},{"id": 2862},{"id": 2863},{"id": 2864},{"id": 2865},{"id": 2866},{"id": 2867},{"id": 2868},{"id": 2869},{"id": 2870},{"id": 2871},{"id": 2872},{"id": 2873},{"id": 2874},{"id": 2875},{"id": 2876},{"id": 2877},{"id": 2878},{"id": 2879},{"id": 2880},{"id": 2881},{"id": 2882},{"id": 2883},{"id": 2884},{"id": 2885},{"id": 2886},{"id": 2887},{"id": 2888},{"id": 2889},{"id": 2890},{"id": 2891},{"id": 2892},{"id": 2893},{"id": 2894},{"id": 2895},{"id": 2896},{"id": 2897},{"id": 2898},{"id": 2899},{"id": 2900},{"id": 2901},{"id": 2902},{"id": 2903},{"id": 2904},{"id": 2905},{"id": 2906},{"id": 2907},{"id": 2908},{"id": 2909},{"id": 2910},{"id": 2911},{"id": 2912},{"id": 2913},{"id": 2914},{"id": 2915},{"id": 2916},{"id": 2917},{"id": 2918},{"id": 2919},{"id": 2920},{"id": 2921},{"id": 2922},{"id": 2923},{"id": 2924},{"id": 2925},{"id": 2926},{"id": 2927},{"id": 2928},{"id": 2929},{"id": 2930},{"id": 2931},{"id": 2932},{"id": 2933},{"id": 2934},{"id": 2935},{"id": 2936},{"id": 2937},{"id": 2938},{"id": 2939},{"id": 2940},{"id": 2941},{"id": 2942},{"id": 2943},{"id": 2944},{"id": 2945},{"id": 2946},{"id": 2947},{"id": 2948},{"id": 2949},{"id": 2950},{"id": 2951},{"id": 2952},{"id": 2953},{"id": 2954},{"id": 2955},{"id": 2956},{"id": 2957},{"id": 2958},{"id": 2959},{"id": 2960},{"id": 2961},{"id": 2962},{"id": 2963},{"id": 2964},{"id": 2965},{"id": 2966},{"id": 2967},{"id": 2968},{"id": 2969},{"id": 2970},{"id": 2971},{"id": 2972},{"id": 2973},{"id": 2974},{"id": 2975},{"id": 2976},{"id": 2977},{"id": 2978},{"id": 2979},{"id": 2980},{"id": 2981},{"id": 2982},{"id": 2983},{"id": 2984},{"id": 2985},{"id": 2986},{"id": 2987},{"id": 2988},{"id": 2989},{"id": 2990},{"id": 2991},{"id": 2992},{"id": 2993},{"id": 2994},{"id": 2995},{"id": 2996},{"id": 2997},{"id": 2998},{"id": 2999}]}
              reviewed: not reviewing.reviewed#1 (fault) fault "it takes more than 2000000 steps in `event.findings.exists(a, event.findings.exists(b, a.id < b.id && a.id + b.id == 6000))`"
              error.execution:
              ! finish failure in m {"code":"EXECUTION","expression":"event.findings.exists(a, event.findings.exists(b, a.id < b.id && a.id + b.id == 6000))","message":"it takes more than 2000000 steps","place":"the guard of `reviewed` in `reviewing`","state":"reviewing","values":{"event.findings":"[{\"id\":0},{\"id\":1},{\"id\":2},{\"id\":3},{\"id\":4},{\"id\":5},{\"id\":6},{\"id\":7},{\"id\":8},{\"id\":9},{\"id\":10},{\"id\":11},{\"id\":12},{\"id\":13},{\"id\":14},{\"id\":15},{\"id\":16},{\"id\":17},{\"id\":18},{\"id\":19},{\"id\":20}… (34891 bytes)"}}
              = reviewing done
        "#]],
    );
}

#[test]
fn an_abort_ends_the_run_even_if_exit_actions_fail() {
    check(
        r#"
initial: a
context: {m: {}, n: 0}
states: {a: {exit: {assign: {n: "${context.m.gone}"}}}}
"#,
        r#"end!"#,
        expect![[r#"
            start
              *: +m +a
              = a m={} n=0
            end!
              *: fault "no such field: gone in `context.m.gone`"
              ! finish aborted in m
              = a m={} n=0 done
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
              go: not a.go (fault) fault "the number is too large in `context.n + 1`"
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
              go: not a.go (fault) fault "the number is not finite in `1.0 / context.f`"
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
              ... 98 rounds ...
              *: not a.always (fault) fault "the value is nested too deeply in `[context.l]`"
              error.execution: m.error "the value is nested too deeply" -a +failed
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
