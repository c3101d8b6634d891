//! Leaving and entering states: the order, and the states that internal, external and targetless transitions leave.

use expect_test::expect;

use super::check;

#[test]
fn states_are_left_inside_out_and_entered_outside_in_with_the_content_between() {
    check(
        r#"
context: {log: ""}
initial: a
states:
  a:
    initial: a1
    entry: {assign: {log: "${context.log + ' +a'}"}}
    exit: {assign: {log: "${context.log + ' -a'}"}}
    states:
      a1:
        entry: {assign: {log: "${context.log + ' +a1'}"}}
        exit: {assign: {log: "${context.log + ' -a1'}"}}
        on: {go: {target: b1, assign: {log: "${context.log + ' go'}"}}}
  b:
    entry: {assign: {log: "${context.log + ' +b'}"}}
    exit: {assign: {log: "${context.log + ' -b'}"}}
    states:
      b1:
        entry: {assign: {log: "${context.log + ' +b1'}"}}
        exit: {assign: {log: "${context.log + ' -b1'}"}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1 log= +a +a1
            go
              go: a1.go -a1 -a +b +b1
              = b1 log= +a +a1 -a1 -a go +b +b1
        "#]],
    );
}

#[test]
fn regions_are_left_in_reverse_and_entered_in_document_order() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    on: {out: z}
    states:
      one: {initial: a, states: {a: {}}}
      two: {initial: b, states: {b: {}}}
  z: {on: {in: p}}
"#,
        r#"out;in"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +b
              = a b
            out
              out: p.out -b -two -a -one -p +z
              = z
            in
              in: z.in -z +p +one +a +two +b
              = a b
        "#]],
    );
}

#[test]
fn an_external_transition_to_a_descendant_leaves_its_source() {
    check(
        r#"
initial: a
states:
  a:
    initial: a1
    on: {go: a2}
    states: {a1: {}, a2: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1
            go
              go: a.go -a1 -a +a +a2
              = a2
        "#]],
    );
}

#[test]
fn an_internal_transition_to_a_descendant_stays_in_its_source() {
    check(
        r#"
initial: a
states:
  a:
    initial: a1
    on: {go: {target: a2, internal: true}}
    states: {a1: {}, a2: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1
            go
              go: a.go -a1 +a2
              = a2
        "#]],
    );
}

#[test]
fn an_internal_transition_out_of_its_source_is_external() {
    check(
        r#"
initial: a
states:
  a:
    initial: a1
    on: {go: {target: b, internal: true}}
    states: {a1: {}}
  b: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1
            go
              go: a.go -a1 -a +b
              = b
        "#]],
    );
}

#[test]
fn a_transition_to_itself_leaves_and_enters_again() {
    check(
        r#"
initial: a
states: {a: {on: {go: a}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go -a +a
              = a
        "#]],
    );
}

#[test]
fn a_targetless_transition_leaves_nothing() {
    check(
        r#"
context: {n: 0}
initial: a
states:
  a:
    initial: a1
    on: {go: {assign: {n: "${context.n + 1}"}}}
    states: {a1: {}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1 n=0
            go
              go: a.go
              = a1 n=1
        "#]],
    );
}

#[test]
fn a_deep_target_enters_its_ancestors_and_the_other_regions_by_default() {
    check(
        r#"
initial: z
states:
  z: {on: {go: b2}}
  p:
    type: parallel
    states:
      one: {initial: a1, states: {a1: {}, a2: {}}}
      two: {initial: b1, states: {b1: {}, b2: {}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +z
              = z
            go
              go: z.go -z +p +one +a1 +two +b2
              = a1 b2
        "#]],
    );
}

#[test]
fn several_targets_enter_several_regions() {
    check(
        r#"
initial: z
states:
  z: {on: {go: {target: [a2, b2]}}}
  p:
    type: parallel
    states:
      one: {initial: a1, states: {a1: {}, a2: {}}}
      two: {initial: b1, states: {b1: {}, b2: {}}}
      three: {initial: c1, states: {c1: {}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +z
              = z
            go
              go: z.go -z +p +one +a2 +two +b2 +three +c1
              = a2 b2 c1
        "#]],
    );
}

#[test]
fn initial_content_comes_between_the_parents_entry_and_the_childs() {
    check(
        r#"
context: {log: ""}
initial: z
states:
  z: {on: {go: a, deep: a2}}
  a:
    entry: {assign: {log: "${context.log + ' a'}"}}
    initial: {target: a1, actions: [{assign: {log: "${context.log + ' initial'}"}}]}
    on: {back: z}
    states:
      a1: {entry: {assign: {log: "${context.log + ' a1'}"}}}
      a2: {entry: {assign: {log: "${context.log + ' a2'}"}}}
"#,
        r#"go;back;deep"#,
        expect![[r#"
            start
              *: +m +z
              = z log=
            go
              go: z.go -z +a +a1
              = a1 log= a initial a1
            back
              back: a.back -a1 -a +z
              = z log= a initial a1
            deep
              deep: z.deep -z +a +a2
              = a2 log= a initial a1 a a2
        "#]],
    );
}

#[test]
fn an_initial_state_may_be_deep_and_in_several_regions() {
    check(
        r#"
initial: [a2, b2]
states:
  p:
    type: parallel
    states:
      one: {initial: a1, states: {a1: {}, a2: {}}}
      two: {initial: b1, states: {b1: {}, b2: {}}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +p +one +a2 +two +b2
              = a2 b2
        "#]],
    );
}

#[test]
fn a_transition_from_any_state_leaves_all_of_them() {
    check(
        r#"
initial: a
on: {stop: z}
states:
  a: {initial: b, states: {b: {initial: c, states: {c: {}}}}}
  z: {}
"#,
        r#"stop;stop"#,
        expect![[r#"
            start
              *: +m +a +b +c
              = c
            stop
              stop: m.stop -c -b -a +z
              = z
            stop
              stop: m.stop -z +z
              = z
        "#]],
    );
}

#[test]
fn a_root_that_is_parallel_moves_within_its_regions() {
    check(
        r#"
type: parallel
states:
  one: {initial: a, states: {a: {on: {go: b}}, b: {}}}
  two: {initial: c, states: {c: {on: {cross: b}}}}
"#,
        r#"go;cross"#,
        expect![[r#"
            start
              *: +m +one +a +two +c
              = a c
            go
              go: a.go -a +b
              = b c
            cross
              cross: c.cross -c -two -b -one +one +b +two +c
              = b c
        "#]],
    );
}

#[test]
fn a_transition_that_leaves_every_region_of_a_parallel_root_enters_all_of_them_again() {
    check(
        r#"
type: parallel
on: {again: one, deep: d}
states:
  one: {initial: a, states: {a: {}, b: {}}}
  two: {initial: c, states: {c: {}, d: {}}}
  three: {}
"#,
        r#"deep;again"#,
        expect![[r#"
            start
              *: +m +one +a +two +c +three
              = a c three
            deep
              deep: m.deep -three -c -two -a -one +one +a +two +d +three
              = a d three
            again
              again: m.again -three -d -two -a -one +one +a +two +c +three
              = a c three
        "#]],
    );
}
