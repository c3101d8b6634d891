//! The run as a whole: permission to raise events, pausing and resuming, and inputs that come at the wrong time.

use expect_test::expect;

use super::check;

#[test]
fn only_the_parties_named_in_the_file_may_raise_an_event() {
    check(
        r#"
events: {go: {from: user}, ring: {from: timer}, call: {from: run}, free: {from: any}, own: {from: machine}}
context: {n: 0}
initial: a
on: 
  go: {reason: x}
  ring: {reason: x}
  call: {reason: x}
  free: {reason: x}
  own: {reason: x}
states: {a: {}}
"#,
        r#"user go;run go;user ring;timer ring;user call;run call;user free;run free;user own"#,
        expect![[r#"
            start
              *: +m +a
              = a n=0
            user go
              go: m.go "x"
              = a n=0
            run go (refused: this sender may not raise this event)
              = a n=0
            user ring (refused: this sender may not raise this event)
              = a n=0
            timer ring
              ring: m.ring "x"
              = a n=0
            user call (refused: this sender may not raise this event)
              = a n=0
            run call
              call: m.call "x"
              = a n=0
            user free
              free: m.free "x"
              = a n=0
            run free
              free: m.free "x"
              = a n=0
            user own (refused: this sender may not raise this event)
              = a n=0
        "#]],
    );
}

#[test]
fn events_of_activities_timers_and_the_machine_are_refused_from_outside() {
    check(
        r#"
events: {go: {from: user}}
initial: a
on: {error: failed, timeout: failed}
states:
  a: {timeout: 1m, invoke: {activity: build, signals: [passed]}, on: {passed: b}}
  b: {initial: c, on: {done: a}, states: {c: {on: {go: d}}, d: {type: final}}}
  failed: {}
"#,
        r#"user passed;user error;user error.execution;user timeout.a;user done.state.b"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! set t1 60000ms
              ! start a2 build {}
              = a
            user passed (refused: this sender may not raise this event)
              = a
            user error (refused: this sender may not raise this event)
              = a
            user error.execution (refused: this sender may not raise this event)
              = a
            user timeout.a (refused: this sender may not raise this event)
              = a
            user done.state.b (refused: this sender may not raise this event)
              = a
        "#]],
    );
}

#[test]
fn a_paused_run_holds_results_of_activities_and_timers_and_refuses_people() {
    check(
        r#"
context: {n: 0}
initial: a
on: {error: failed}
states:
  a:
    entry: {send: {event: ring, delay: 1s}}
    invoke: {activity: build, signals: [built]}
    on: {ring: {assign: {n: "${context.n + 1}"}}, built: b, go: failed}
  b: {}
  failed: {}
"#,
        r#"pause;pause;+ring;@build built;go;resume;resume"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! set t1 1000ms
              ! start a2 build {}
              = a n=0
            pause
              = a n=0 paused
            pause (refused: the run is already paused)
              = a n=0 paused
            +ring (held)
              = a n=0 paused
            @build built (held)
              = a n=0 paused
            go (refused: the run is paused)
              = a n=0 paused
            resume
              ring: a.ring
              built: a.built -a +b
              = b n=1
            resume (refused: the run is not paused)
              = b n=1
        "#]],
    );
}

#[test]
fn a_held_input_is_late_if_an_earlier_one_ended_its_activity() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a:
    invoke: [{activity: build, signals: [built]}, {activity: lint, signals: [linted]}]
    on: {built: b, linted: c}
  b: {}
  c: {}
  failed: {}
"#,
        r#"pause;@lint linted;@build built;resume"#,
        expect![[r#"
            start
              *: +m +a starts build starts lint
              ! start a1 build {}
              ! start a2 lint {}
              = a
            pause
              = a paused
            @lint linted (held)
              = a paused
            @build built (held)
              = a paused
            resume
              linted: a.linted -a +c
              ! cancel a1
              = c
        "#]],
    );
}

#[test]
fn inputs_after_the_end_of_a_run_change_nothing() {
    check(
        r#"
initial: a
states: {a: {on: {go: z}}, z: {type: final, outcome: success}}
"#,
        r#"go;go;pause;resume;+t9;@a9 x"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go -a +z
              ! finish success in z
              = z done
            go (refused: the run has ended)
              = z done
            pause (refused: the run is not running)
              = z done
            resume (refused: the run is not paused)
              = z done
            +t9 (late)
              = z done
            @a9 x (late)
              = z done
        "#]],
    );
}

#[test]
fn scxml_variables_have_the_values_of_the_run() {
    check(
        r#"
events: {go: {from: any}}
context: {seen: ""}
initial: a
states:
  a: {on: {go: {assign: {seen: "${_event.name + ' ' + _event.data.x + ' ' + _name + ' ' + _sessionid}"}}}}
"#,
        r#"go {"x": "y"}"#,
        expect![[r#"
            start
              *: +m +a
              = a seen=
            go {"x": "y"}
              go: a.go
              = a seen=go y m run-1
        "#]],
    );
}

#[test]
fn an_aborted_run_leaves_its_states_and_ends_as_aborted() {
    check(
        r#"
context: {n: 0}
initial: a
states:
  a:
    timeout: 5s
    exit: {assign: {n: "${context.n + 1}"}}
    invoke: {activity: build, signals: [built]}
    on: {built: b, timeout: b, error: b}
  b: {type: final, outcome: success, data: {n: 1}}
"#,
        r#"pause;end!;end!"#,
        expect![[r#"
            start
              *: +m +a starts build
              ! set t1 5000ms
              ! start a2 build {}
              = a n=0
            pause
              = a n=0 paused
            end!
              ! cancel a2
              ! clear t1
              ! finish aborted in m
              = a n=1 done
            end! (late)
              = a n=1 done
        "#]],
    );
}
