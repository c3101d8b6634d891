//! Selecting transitions: document order, inner before outer, conflicts between regions, names of events.

use expect_test::expect;

use super::check;

#[test]
fn the_first_enabled_transition_in_document_order_is_taken() {
    check(
        r#"
context: {n: 1}
initial: a
states:
  a:
    on:
      go:
        - {target: b, guard: context.n > 5}
        - {target: c, guard: context.n == 1}
        - d
  b: {}
  c: {}
  d: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=1
            go
              go: not a.go#1 (guard) a.go#2 -a +c
              = c n=1
        "#]],
    );
}

#[test]
fn an_inner_state_goes_before_an_outer_one() {
    check(
        r#"
initial: outer
on: {go: fallback, other: fallback}
states:
  outer:
    initial: inner
    on: {go: elsewhere}
    states:
      inner: {on: {go: next}}
      next: {}
  elsewhere: {}
  fallback: {}
"#,
        r#"go;go;other"#,
        expect![[r#"
            start
              *: +m +outer +inner
              = inner
            go
              go: inner.go -inner +next
              = next
            go
              go: outer.go -next -outer +elsewhere
              = elsewhere
            other
              other: m.other -elsewhere +fallback
              = fallback
        "#]],
    );
}

#[test]
fn an_outer_state_is_considered_if_the_inner_guard_is_false() {
    check(
        r#"
context: {n: 0}
initial: outer
states:
  outer:
    initial: inner
    on: {go: elsewhere}
    states:
      inner: {on: {go: {target: next, guard: context.n > 0}}}
      next: {}
  elsewhere: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +outer +inner
              = inner n=0
            go
              go: not inner.go (guard) outer.go -inner -outer +elsewhere
              = elsewhere n=0
        "#]],
    );
}

#[test]
fn both_regions_move_on_one_event_in_document_order() {
    check(
        r#"
context: {log: ""}
type: parallel
states:
  one:
    initial: a
    states:
      a: {on: {go: {target: b, assign: {log: "${context.log + '1'}"}}}}
      b: {}
  two:
    initial: c
    states:
      c: {on: {go: {target: d, assign: {log: "${context.log + '2'}"}}}}
      d: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +one +a +two +c
              = a c log=
            go
              go: a.go c.go -c -a +b +d
              = b d log=12
        "#]],
    );
}

#[test]
fn if_two_regions_leave_the_same_states_the_first_one_wins() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    states:
      one:
        initial: a
        states: {a: {on: {go: x}}}
      two:
        initial: b
        states: {b: {on: {go: y}}}
  x: {}
  y: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +b
              = a b
            go
              go: not b.go (preempted) a.go -b -two -a -one -p +x
              = x
        "#]],
    );
}

#[test]
fn a_deeper_source_preempts_an_outer_one_that_came_first() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    on: {go: x}
    states:
      one:
        initial: a
        states: {a: {}}
      two:
        initial: b
        states: {b: {on: {go: y}}}
  x: {}
  y: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +b
              = a b
            go
              go: not p.go (preempted) b.go -b -two -a -one -p +y
              = y
        "#]],
    );
}

#[test]
fn a_transition_of_a_common_ancestor_is_taken_once() {
    check(
        r#"
context: {n: 0}
type: parallel
on: {go: {assign: {n: "${context.n + 1}"}}}
states:
  one: {}
  two: {}
"#,
        r#"go;go"#,
        expect![[r#"
            start
              *: +m +one +two
              = one two n=0
            go
              go: m.go
              = one two n=1
            go
              go: m.go
              = one two n=2
        "#]],
    );
}

#[test]
fn a_targetless_transition_does_not_conflict_with_one_that_moves() {
    check(
        r#"
context: {n: 0}
type: parallel
states:
  one:
    initial: a
    states: {a: {on: {go: {assign: {n: "${context.n + 1}"}}}}}
  two:
    initial: b
    states: {b: {on: {go: c}}, c: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +one +a +two +b
              = a b n=0
            go
              go: a.go b.go -b +c
              = a c n=1
        "#]],
    );
}

#[test]
fn a_transition_into_a_region_from_another_preempts_transitions_inside_it() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    states:
      one:
        initial: a
        states: {a: {on: {go: d}}}
      two:
        initial: b
        states: {b: {on: {go: c}}, c: {}, d: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +b
              = a b
            go
              go: not b.go (preempted) a.go -b -two -a -one -p +p +one +a +two +d
              = a d
        "#]],
    );
}

#[test]
fn a_descriptor_matches_by_tokens_and_not_by_letters() {
    check(
        r#"
events: {job.done: {from: any}, job.done.well: {from: any}, jobless: {from: any}, job: {from: any}}
context: {log: ""}
initial: a
states:
  a:
    on:
      job.done: {assign: {log: "${context.log + 'D'}"}}
      job: {assign: {log: "${context.log + 'J'}"}}
"#,
        r#"job.done;job.done.well;job;jobless;job.other"#,
        expect![[r#"
            start
              *: +m +a
              = a log=
            job.done
              job.done: a.job.done
              = a log=D
            job.done.well
              job.done.well: a.job.done
              = a log=DD
            job
              job: a.job
              = a log=DDJ
            jobless (unhandled)
              jobless:
              = a log=DDJ
            job.other
              job.other: a.job
              = a log=DDJJ
        "#]],
    );
}

#[test]
fn a_wildcard_takes_all_other_events_even_unknown_ones() {
    check(
        r#"
events: {go: {from: any}}
context: {last: ""}
initial: a
states:
  a:
    on:
      go: b
      "*": {assign: {last: "${_event.name}"}}
  b: {}
"#,
        r#"never.heard.of.it {"n": 1};go;go"#,
        expect![[r#"
            start
              *: +m +a
              = a last=
            never.heard.of.it {"n": 1}
              never.heard.of.it: a.*
              = a last=never.heard.of.it
            go
              go: a.go -a +b
              = b last=never.heard.of.it
            go (unhandled)
              go:
              = b last=never.heard.of.it
        "#]],
    );
}

#[test]
fn an_event_without_a_handler_is_unhandled_and_changes_nothing() {
    check(
        r#"
events: {go: {from: any}, other: {from: any}}
initial: a
states: {a: {on: {go: b}}, b: {on: {other: a}}}
"#,
        r#"other;unheard"#,
        expect![[r#"
            start
              *: +m +a
              = a
            other (unhandled)
              other:
              = a
            unheard (unhandled)
              unheard:
              = a
        "#]],
    );
}

#[test]
fn guards_see_active_states_and_visits() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    states:
      one:
        initial: a
        states:
          a: {on: {go: b}}
          b: {on: {back: a}}
      two:
        initial: c
        states:
          c: {on: {try: {target: d, guard: "In('b') && state.b.visits == 2"}}}
          d: {on: {try: {target: c, guard: "!state.b.active"}}}
"#,
        r#"go;try;back;go;try;try;back;try"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +c
              = a c
            go
              go: a.go -a +b
              = b c
            try (unhandled)
              try: not c.try (guard)
              = b c
            back
              back: b.back -b +a
              = a c
            go
              go: a.go -a +b
              = b c
            try
              try: c.try -c +d
              = b d
            try (unhandled)
              try: not d.try (guard)
              = b d
            back
              back: b.back -b +a
              = a d
            try
              try: d.try -d +c
              = a c
        "#]],
    );
}
