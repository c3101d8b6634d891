//! Limits: counters, ladders, resets, and limits that the input sets.

use expect_test::expect;

use super::{check, check_with};

#[test]
fn a_used_up_limit_disables_its_transition() {
    check(
        r#"
initial: a
states:
  a: {on: {go: [{target: b, limit: 2}, c]}}
  b: {on: {back: a}}
  c: {}
"#,
        r#"go;back;go;back;go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go#1 -a +b
              = b
            back
              back: b.back -b +a
              = a
            go
              go: a.go#1 -a +b
              = b
            back
              back: b.back -b +a
              = a
            go
              go: not a.go#1 (a.go#1=2) a.go#2 -a +c
              = c
        "#]],
    );
}

#[test]
fn a_ladder_on_one_counter_goes_from_rung_to_rung() {
    check(
        r#"
initial: a
states:
  a:
    on:
      fail:
        - {limit: {counter: tries, max: 1}, reason: "again"}
        - {limit: {counter: tries, max: 2}, reason: "with more thought"}
        - {target: z, reason: "gave up after ${count.tries}"}
  z: {}
"#,
        r#"fail;fail;fail"#,
        expect![[r#"
            start
              *: +m +a
              = a
            fail
              fail: a.fail#1 "again"
              = a
            fail
              fail: not a.fail#1 (tries=1) a.fail#2 "with more thought"
              = a
            fail
              fail: not a.fail#1 (tries=2) not a.fail#2 (tries=2) a.fail#3 "gave up after 2" -a +z
              = z
        "#]],
    );
}

#[test]
fn a_reset_starts_the_count_again() {
    check(
        r#"
initial: a
states:
  a:
    on:
      go: [{limit: {counter: tries, max: 1}}, z]
      fresh: {reset: tries}
  z: {}
"#,
        r#"go;fresh;go;go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go#1
              = a
            fresh
              fresh: a.fresh
              = a
            go
              go: a.go#1
              = a
            go
              go: not a.go#1 (tries=1) a.go#2 -a +z
              = z
        "#]],
    );
}

#[test]
fn a_transition_with_two_limits_needs_both() {
    check(
        r#"
initial: a
states:
  a: {on: {go: [{limit: [{counter: few, max: 1}, {counter: many, max: 5}]}, z], other: {reset: few}}}
  z: {}
"#,
        r#"go;other;go;go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go#1
              = a
            other
              other: a.other
              = a
            go
              go: a.go#1
              = a
            go
              go: not a.go#1 (few=1) a.go#2 -a +z
              = z
        "#]],
    );
}

#[test]
fn two_regions_that_share_a_counter_do_not_exceed_its_maximum_together() {
    check(
        r#"
type: parallel
states:
  one: {initial: a, states: {a: {on: {go: [{limit: {counter: shared, max: 3}}, a_out]}}, a_out: {}}}
  two: {initial: b, states: {b: {on: {go: [{limit: {counter: shared, max: 3}}, b_out]}}, b_out: {}}}
"#,
        r#"go;go"#,
        expect![[r#"
            start
              *: +m +one +a +two +b
              = a b
            go
              go: a.go#1 b.go#1
              = a b
            go
              go: not b.go#1 (shared=3) a.go#1 b.go#2 -b +b_out
              = a b_out
        "#]],
    );
}

#[test]
fn a_limit_may_be_set_by_the_input() {
    check_with(
        r#"
input: {type: object, required: [tries], properties: {tries: {type: integer, minimum: 0, maximum: 10}}}
initial: a
states:
  a: {on: {go: [{limit: {counter: tries, max: "${input.tries}"}}, z]}}
  z: {}
"#,
        r#"{"tries": 2}"#,
        r#"go;go;go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go#1
              = a
            go
              go: a.go#1
              = a
            go
              go: not a.go#1 (tries=2) a.go#2 -a +z
              = z
        "#]],
    );
}

#[test]
fn a_limit_above_the_schemas_maximum_is_capped() {
    check_with(
        r#"
input: {type: object, required: [tries], properties: {tries: {type: integer, minimum: 0, maximum: 1}}}
initial: a
states:
  a: {on: {go: [{limit: {counter: tries, max: "${input.tries}"}}, z]}}
  z: {}
"#,
        r#"{"tries": 99}"#,
        r#"go;go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: a.go#1
              = a
            go
              go: not a.go#1 (tries=1) a.go#2 -a +z
              = z
        "#]],
    );
}

#[test]
fn a_limit_that_is_not_a_number_is_an_error_and_disables_the_transition() {
    check_with(
        r#"
input: {type: object, required: [tries], properties: {tries: {type: integer, minimum: 0, maximum: 9}}}
initial: a
on: {error: failed}
states:
  a: {on: {go: [{target: b, limit: {counter: tries, max: "${input.tries}"}}]}}
  b: {}
  failed: {}
"#,
        r#"{"tries": "many"}"#,
        r#"go"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go
              go: not a.go (fault) fault "a limit must be a whole number, not string in `input.tries`"
              error.execution: m.error -a +failed
              = failed
        "#]],
    );
}

#[test]
fn a_limit_is_checked_only_if_the_guard_holds() {
    check(
        r#"
initial: a
on: {error: failed}
states:
  a: {on: {go: [{limit: 1, guard: "event.ok"}, z], other: {reason: x}}}
  z: {}
  failed: {}
"#,
        r#"go {"ok": true};other;go {"ok": false}"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go {"ok": true}
              go: a.go#1
              = a
            other
              other: a.other "x"
              = a
            go {"ok": false}
              go: not a.go#1 (guard) a.go#2 -a +z
              = z
        "#]],
    );
}

#[test]
fn a_transition_that_is_not_taken_does_not_count() {
    check(
        r#"
initial: a
states:
  a: {on: {go: [{target: b, limit: 1, guard: "event.ok"}, {reason: "not yet"}]}}
  b: {}
"#,
        r#"go {"ok": false};go {"ok": false};go {"ok": true}"#,
        expect![[r#"
            start
              *: +m +a
              = a
            go {"ok": false}
              go: not a.go#1 (guard) a.go#2 "not yet"
              = a
            go {"ok": false}
              go: not a.go#1 (guard) a.go#2 "not yet"
              = a
            go {"ok": true}
              go: a.go#1 -a +b
              = b
        "#]],
    );
}
