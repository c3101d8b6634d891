//! Activities: started on entry, cancelled on exit, and the effects of their results.

use expect_test::expect;

use super::check;

#[test]
fn an_activity_is_started_with_its_data_and_its_signal_is_an_event() {
    check(
        r#"
context: {goal: fix, tree: ""}
initial: a
on: {error: failed}
states:
  a:
    invoke: {activity: build, with: {text: "please ${context.goal}", n: 1}, signals: [passed, broken]}
    on: {passed: {target: b, assign: {tree: "${event.tree}"}}, broken: failed}
  b: {}
  failed: {}
"#,
        r#"@build passed {"tree": "abc"}"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! start a1 build {"n":1,"text":"please fix"}
              = a goal=fix tree=
            @build passed {"tree": "abc"}
              passed: a.passed -a +b
              = b goal=fix tree=abc
        "#]],
    );
}

#[test]
fn an_activity_is_cancelled_when_its_state_is_left_and_its_result_is_late() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a: {invoke: {activity: build, signals: [passed]}, on: {passed: b, stop: c}}
  b: {}
  c: {}
  failed: {}
"#,
        r#"stop;@a1 passed"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! start a1 build {}
              = a
            stop
              stop: a.stop -a +c
              ! cancel a1
              = c
            @a1 passed (late)
              = c
        "#]],
    );
}

#[test]
fn a_repeated_outcome_counts_once() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a: {invoke: {activity: build, signals: [passed]}, on: {passed: b}}
  b: {invoke: {activity: test, signals: [passed]}, on: {passed: c}}
  c: {}
  failed: {}
"#,
        r#"@build passed;@a1 passed;@test passed"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! start a1 build {}
              = a
            @build passed
              passed: a.passed -a +b starts test
              ! start a2 test {}
              = b
            @a1 passed (late)
              = b
            @test passed
              passed: b.passed -b +c
              = c
        "#]],
    );
}

#[test]
fn a_failed_activity_raises_error_with_its_state() {
    check(
        r#"
context: {seen: {}}
initial: a
on: {error: {target: failed, assign: {seen: "${event}"}}}
states:
  a: {invoke: {activity: build, signals: [passed]}, on: {passed: b}}
  b: {}
  failed: {}
"#,
        r#"@build error {"code": "NO_DISK", "message": "full"}"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! start a1 build {}
              = a seen={}
            @build error {"code": "NO_DISK", "message": "full"}
              error: m.error -a +failed
              = failed seen={"activity":"build","code":"NO_DISK","message":"full","state":"a"}
        "#]],
    );
}

#[test]
fn an_undeclared_signal_is_an_error() {
    check(
        r#"
initial: a
on: {error: {target: failed, reason: "${event.message}"}}
states:
  a: {invoke: {activity: build, signals: [passed]}, on: {passed: b}}
  b: {}
  failed: {}
"#,
        r#"@build odd"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! start a1 build {}
              = a
            @build odd
              *: fault "`build` ended with the undeclared signal `odd`"
              error: m.error "`build` ended with the undeclared signal `odd`" -a +failed
              = failed
        "#]],
    );
}

#[test]
fn several_activities_of_a_state_are_started_in_order_and_cancelled_together() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a:
    invoke:
      - {activity: build, signals: [built]}
      - {activity: lint, signals: [linted]}
    on: {built: {reason: half}, linted: b}
  b: {}
  failed: {}
"#,
        r#"@build built;@lint linted"#,
        expect![[r#"
            start
              *: +m +a starts build starts lint
              ! start a1 build {}
              ! start a2 lint {}
              = a
            @build built
              built: a.built "half"
              = a
            @lint linted
              linted: a.linted -a +b
              = b
        "#]],
    );
}

#[test]
fn reentering_a_state_cancels_and_restarts_its_activity() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a: {invoke: {activity: build, signals: [built]}, on: {again: a, built: b}}
  b: {}
  failed: {}
"#,
        r#"again;@a1 built;@build built"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! start a1 build {}
              = a
            again
              again: a.again -a +a starts build
              ! cancel a1
              ! start a2 build {}
              = a
            @a1 built (late)
              = a
            @build built
              built: a.built -a +b
              = b
        "#]],
    );
}

#[test]
fn an_activity_of_a_state_left_in_the_same_macrostep_is_not_started() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a: {on: {go: b}}
  b: {invoke: {activity: build, signals: [built]}, always: c, on: {built: c}}
  c: {}
  failed: {}
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

#[test]
fn activities_of_outer_states_and_regions_live_as_long_as_their_states() {
    check(
        r#"
initial: p
on: {error: failed}
states:
  p:
    type: parallel
    invoke: {activity: watch, signals: [seen]}
    on: {seen: failed}
    states:
      one: {initial: a, states: {a: {invoke: {activity: build, signals: [built]}, on: {built: b}}, b: {}}}
      two: {initial: c, states: {c: {invoke: {activity: lint, signals: [linted]}, on: {linted: d}}, d: {}}}
  failed: {}
"#,
        r#"@build built;@watch seen"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +c starts watch starts build starts lint
              ! start a1 watch {}
              ! start a2 build {}
              ! start a3 lint {}
              = a c
            @build built
              built: a.built -a +b
              = b c
            @watch seen
              seen: p.seen -c -two -b -one -p +failed
              ! cancel a3
              = failed
        "#]],
    );
}

#[test]
fn a_failing_activity_input_is_an_error_and_nothing_is_started() {
    check(
        r#"
context: {m: {}}
initial: a
on: {error: {target: failed, reason: "${event.message} in ${event.state}"}}
states:
  a: {invoke: {activity: build, with: {x: "${context.m.gone}"}, signals: [built]}, on: {built: b}}
  b: {}
  failed: {}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +a fault "no such field: gone in `context.m.gone`"
              error.execution: m.error "no such field: gone in a" -a +failed
              = failed m={}
        "#]],
    );
}

#[test]
fn activities_are_cancelled_when_the_run_ends() {
    check(
        r#"
initial: p
on: {error: failed}
states:
  p:
    type: parallel
    on: {stop: ended}
    states:
      one: {initial: a, states: {a: {timeout: 1m, invoke: {activity: build, signals: [built]}, on: {built: b}}, b: {}}}
  ended: {type: final, outcome: aborted}
  failed: {type: final, outcome: failure}
"#,
        r#"stop;@a2 built"#,
        expect![[r#"
            start
              *: +m +p +one +a starts build
              ! set t1 60000ms
              ! start a2 build {}
              = a
            stop
              stop: p.stop -a -one -p +ended
              ! cancel a2
              ! clear t1
              ! finish aborted in ended
              = ended done
            @a2 built (late)
              = ended done
        "#]],
    );
}
