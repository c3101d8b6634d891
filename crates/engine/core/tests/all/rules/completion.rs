//! Final states: done events, the end of a run, its outcome and data.

use expect_test::expect;

use super::check;

#[test]
fn a_compound_state_is_done_when_its_final_child_is_entered() {
    check(
        r#"
context: {got: 0}
initial: a
states:
  a:
    initial: a1
    on: {done: {target: b, assign: {got: "${event.n}"}}}
    states:
      a1: {on: {go: end}}
      end: {type: final, data: {n: 7}}
  b: {}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a +a1
              = a1 got=0
            go
              go: a1.go -a1 +end
              done.state.a: a.done.state.a -end -a +b
              = b got=7
        "#]],
    );
}

#[test]
fn a_parallel_state_is_done_when_all_its_regions_are() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    on: {done: z}
    states:
      one: {initial: a, states: {a: {on: {one: a_end}}, a_end: {type: final}}}
      two: {initial: b, states: {b: {on: {two: b_end}}, b_end: {type: final}}}
  z: {}
"#,
        r#"one;two"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +b
              = a b
            one
              one: a.one -a +a_end
              done.state.one:
              = a_end b
            two
              two: b.two -b +b_end
              done.state.two:
              done.state.p: p.done.state.p -b_end -two -a_end -one -p +z
              = z
        "#]],
    );
}

#[test]
fn regions_done_in_one_microstep_are_done_once() {
    check(
        r#"
context: {n: 0}
initial: p
states:
  p:
    type: parallel
    on: {done: {assign: {n: "${context.n + 1}"}}}
    states:
      one: {initial: a, states: {a: {on: {go: a_end}}, a_end: {type: final}}}
      two: {initial: b, states: {b: {on: {go: b_end}}, b_end: {type: final}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +p +one +a +two +b
              = a b n=0
            go
              go: a.go b.go -b -a +a_end +b_end
              done.state.one:
              done.state.two:
              done.state.p: p.done.state.p
              = a_end b_end n=1
        "#]],
    );
}

#[test]
fn a_parallel_region_that_is_parallel_itself_completes_its_parent() {
    check(
        r#"
initial: p
states:
  p:
    type: parallel
    on: {done: z}
    states:
      q:
        type: parallel
        states:
          one: {initial: a, states: {a: {on: {one: a_end}}, a_end: {type: final}}}
          two: {initial: b, states: {b: {on: {two: b_end}}, b_end: {type: final}}}
  z: {}
"#,
        r#"one;two"#,
        expect![[r#"
            start
              *: +m +p +q +one +a +two +b
              = a b
            one
              one: a.one -a +a_end
              done.state.one:
              = a_end b
            two
              two: b.two -b +b_end
              done.state.two:
              done.state.q:
              done.state.p: p.done.state.p -b_end -two -a_end -one -q -p +z
              = z
        "#]],
    );
}

#[test]
fn a_run_ends_in_a_final_state_at_the_top_with_its_outcome_and_data() {
    check(
        r#"
context: {n: 3}
initial: a
states:
  a: {on: {go: end}}
  end: {type: final, outcome: success, data: {n: "${context.n}"}}
"#,
        r#"go;go"#,
        expect![[r#"
            start
              *: +m +a
              = a n=3
            go
              go: a.go -a +end
              ! finish success in end {"n":3}
              = end n=3 done
            go (refused: the run has ended)
              = end n=3 done
        "#]],
    );
}

#[test]
fn a_run_without_an_outcome_ends() {
    check(
        r#"
initial: a
states: {a: {on: {go: end}}, end: {type: final}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go -a +end
              ! finish no outcome in end
              = end done
        "#]],
    );
}

#[test]
fn a_run_whose_regions_are_all_done_ends() {
    check(
        r#"
type: parallel
states:
  one: {initial: a, states: {a: {on: {one: a_end}}, a_end: {type: final}}}
  two: {initial: b, states: {b: {on: {two: b_end}}, b_end: {type: final}}}
"#,
        r#"one;two;one"#,
        expect![[r#"
            start
              *: +m +one +a +two +b
              = a b
            one
              one: a.one -a +a_end
              done.state.one:
              = a_end b
            two
              two: b.two -b +b_end
              ! finish no outcome in m
              = a_end b_end done
            one (refused: the run has ended)
              = a_end b_end done
        "#]],
    );
}

#[test]
fn exit_content_is_executed_when_a_run_ends() {
    check(
        r#"
context: {log: ""}
initial: a
states:
  a: {on: {go: end}, exit: {assign: {log: "${context.log + ' -a'}"}}}
  end: {type: final, outcome: failure, exit: {assign: {log: "${context.log + ' -end'}"}}}
"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a log=
            go
              go: a.go -a +end
              ! finish failure in end
              = end log= -a -end done
        "#]],
    );
}

#[test]
fn a_run_may_end_at_its_start() {
    check(
        r#"
initial: end
states: {end: {type: final, outcome: success}}
"#,
        r#""#,
        expect![[r#"
            start
              *: +m +end
              ! finish success in end
              = end done
        "#]],
    );
}
