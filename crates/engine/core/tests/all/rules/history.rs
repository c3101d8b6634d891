//! History states: the states they record and restore.

use expect_test::expect;

use super::check;

#[test]
fn shallow_history_restores_the_child_and_enters_it_by_default() {
    check(
        r#"
initial: work
states:
  work:
    initial: a
    on: {leave: idle}
    states:
      a: {on: {go: b}}
      b: {initial: b1, states: {b1: {on: {go: b2}}, b2: {}}}
      h: {type: history, target: a}
  idle: {on: {back: h}}
"#,
        r#"go;go;leave;back"#,
        expect![[r#"
            start
              *: +m +work +a
              = a
            go
              go: a.go -a +b +b1
              = b1
            go
              go: b1.go -b1 +b2
              = b2
            leave
              leave: work.leave -b2 -b -work +idle
              = idle
            back
              back: idle.back -idle +work +b +b1
              = b1
        "#]],
    );
}

#[test]
fn deep_history_restores_the_innermost_states() {
    check(
        r#"
initial: work
states:
  work:
    initial: a
    on: {leave: idle}
    states:
      a: {on: {go: b}}
      b: {initial: b1, states: {b1: {on: {go: b2}}, b2: {}}}
      h: {type: history, history: deep, target: a}
  idle: {on: {back: h}}
"#,
        r#"go;go;leave;back"#,
        expect![[r#"
            start
              *: +m +work +a
              = a
            go
              go: a.go -a +b +b1
              = b1
            go
              go: b1.go -b1 +b2
              = b2
            leave
              leave: work.leave -b2 -b -work +idle
              = idle
            back
              back: idle.back -idle +work +b +b2
              = b2
        "#]],
    );
}

#[test]
fn history_without_a_record_leads_to_its_default() {
    check(
        r#"
initial: idle
states:
  idle: {on: {back: h}}
  work:
    initial: a
    states:
      a: {}
      b: {}
      h: {type: history, target: b}
"#,
        r#"back"#,
        expect![[r#"
            start
              *: +m +idle
              = idle
            back
              back: idle.back -idle +work +b
              = b
        "#]],
    );
}

#[test]
fn deep_history_of_a_parallel_state_remembers_every_region() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    on: {leave: idle}
    states:
      one: {initial: a1, states: {a1: {on: {go: a2}}, a2: {}}}
      two: {initial: b1, states: {b1: {}, b2: {}}}
      h: {type: history, history: deep, target: [a1, b2]}
  idle: {on: {back: h}}
"#,
        r#"go;leave;back"#,
        expect![[r#"
            start
              *: +m +p +one +a1 +two +b1
              = a1 b1
            go
              go: a1.go -a1 +a2
              = a2 b1
            leave
              leave: p.leave -b1 -two -a2 -one -p +idle
              = idle
            back
              back: idle.back -idle +p +one +a2 +two +b1
              = a2 b1
        "#]],
    );
}

#[test]
fn a_history_state_as_initial_remembers_too() {
    check(
        r#"
initial: work
states:
  work:
    initial: h
    on: {leave: idle}
    states:
      a: {on: {go: b}}
      b: {}
      h: {type: history, target: a}
  idle: {on: {back: work}}
"#,
        r#"go;leave;back"#,
        expect![[r#"
            start
              *: +m +work +a
              = a
            go
              go: a.go -a +b
              = b
            leave
              leave: work.leave -b -work +idle
              = idle
            back
              back: idle.back -idle +work +b
              = b
        "#]],
    );
}

#[test]
fn a_transition_from_inside_to_its_parents_history_first_goes_to_the_default() {
    check(
        r#"
initial: work
states:
  work:
    initial: a
    states:
      a: {on: {back: h}}
      b: {on: {back: h}}
      h: {type: history, target: b}
"#,
        r#"back;back"#,
        expect![[r#"
            start
              *: +m +work +a
              = a
            back
              back: a.back -a +b
              = b
            back
              back: b.back -b +b
              = b
        "#]],
    );
}

#[test]
fn history_records_the_most_recent_exit() {
    check(
        r#"
initial: work
states:
  work:
    initial: a
    on: {leave: idle}
    states:
      a: {on: {go: b}}
      b: {on: {go: a}}
      h: {type: history, target: a}
  idle: {on: {back: h}}
"#,
        r#"go;leave;back;go;leave;back"#,
        expect![[r#"
            start
              *: +m +work +a
              = a
            go
              go: a.go -a +b
              = b
            leave
              leave: work.leave -b -work +idle
              = idle
            back
              back: idle.back -idle +work +b
              = b
            go
              go: b.go -b +a
              = a
            leave
              leave: work.leave -a -work +idle
              = idle
            back
              back: idle.back -idle +work +a
              = a
        "#]],
    );
}
