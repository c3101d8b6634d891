//! The type checker: result types, and diagnostics for expressions that do not fit.

use expect_test::{Expect, expect};
use serde_json::json;

use super::{read, show_problems};
use crate::{
    Diagnostic, Value,
    expr::{Scope, Type},
};

fn types(source: &str, expect: Option<&Type>) -> (Type, Vec<Diagnostic>) {
    let input = Type::of_schema(&json!({
        "type": "object",
        "properties": {
            "goal": {"type": "string"},
            "rate": {"type": "number"},
            "attempts": {"type": "integer"},
            "mode": {"enum": ["fast", "careful"]},
            "files": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}, "size": {"type": "integer"}}}},
            "extra": {"type": "object"},
            "owner": {"type": ["string", "null"]},
        },
    }));
    let context = Type::of_value(&Value::from(json!({
        "iteration": 0, "warnings": [], "names": ["a"], "done": false, "last": null,
        "decision": {"status": "none", "score": 0.5}, "memo": {},
    })));
    let event =
        Type::of_schema(&json!({"properties": {"status": {"enum": ["PASS", "FAIL"]}, "code": {"type": "integer"}}}));
    let expr = read(source).unwrap_or_else(|problems| panic!("{}", show_problems(source, &problems)));
    super::super::check(&expr, &Scope { input: &input, context: &context, event: &event }, expect)
}

/// Checks that the expression has no problem and has this type.
fn check(source: &str, expected: &str) {
    let (found, problems) = types(source, None);
    assert_eq!(problems, [], "{}", show_problems(source, &problems));
    assert_eq!(found.to_string(), expected, "{source}");
}

fn refuse(source: &str, expected: Expect) {
    expected.assert_eq(&show_problems(source, &types(source, None).1));
}

fn refuse_as(wanted: &Type, source: &str, expected: Expect) {
    expected.assert_eq(&show_problems(source, &types(source, Some(wanted)).1));
}

fn accept_as(wanted: &Type, source: &str) {
    let (_, problems) = types(source, Some(wanted));
    assert_eq!(problems, [], "{}", show_problems(source, &problems));
}

#[test]
fn variables_have_the_types_of_their_schemas_and_first_values() {
    check("input.goal", "string");
    check("input.rate", "double");
    check("input.mode", "string ('fast', 'careful')");
    check("input.files", "list of map");
    check("input.files[0].path", "string");
    check("input.files[context.iteration]['size']", "int");
    check("input.extra.anything.at.all", "of unknown type");
    check("input.owner", "of unknown type");
    check("context.warnings", "list");
    check("context.names[0]", "string");
    check("context.last", "of unknown type");
    check("context.decision.score", "double");
    check("context['decision']['status']", "string");
    check("context.memo.x", "of unknown type");
    check("_event.data.code", "int");
    check("_event.name", "string");
    check("_event", "map");
    check("_name + _sessionid", "string");
    check("state.IDLE.visits", "int");
    check("state.IDLE.active", "bool");
    check("count.fixes", "int");
    check("In('IDLE')", "bool");
}

#[test]
fn operators_have_result_types() {
    check("context.iteration + 1", "int");
    check("input.rate * 2.0", "double");
    check("context.memo.x + 1", "int");
    check("context.memo.x + context.last", "of unknown type");
    check("-context.iteration % 2", "int");
    check("input.goal + '!'", "string");
    check("context.names + ['b']", "list of string");
    check("context.warnings + [event.code]", "list");
    check("context.iteration < input.rate", "bool");
    check("context.iteration == input.rate", "bool");
    check("input.owner == null || input.goal != null", "bool");
    check("event.status == 'PASS' && !context.done", "bool");
    check("'PASS' == event.status", "bool");
    check("event.status in ['PASS', 'FAIL']", "bool");
    check("'a' in context.names", "bool");
    check("'a' in context.memo", "bool");
    check("context.done ? 1 : 2.5", "double");
    check("context.done ? 1 : 'x'", "of unknown type");
    check("{'a': 1, input.goal: 2}", "map");
    check("{'a': 1}.a", "int");
    check("[1, 2.5]", "list of double");
    check("context.names == []", "bool");
    check("context.done < true", "bool");
    check("has(event.code) ? event.code : 0", "int");
    check("size(input.goal) + context.names.size()", "int");
    check("string(context.iteration) + input.goal", "string");
    check("double(context.iteration) / 2.0", "double");
    check("dyn(context.iteration) == 'x'", "bool");
    check("type(event.code) == int", "bool");
    check("1u", "of unknown type");
}

#[test]
fn comprehensions_know_their_elements() {
    check("input.files.all(f, f.size > 0)", "bool");
    check("input.files.exists(f, f.path.startsWith(input.goal))", "bool");
    check("input.files.exists_one(f, f.size == 1)", "bool");
    check("input.files.map(f, f.size)", "list of int");
    check("input.files.map(f, f.size > 1, f.path)", "list of string");
    check("input.files.filter(f, f.size > 0)[0].path", "string");
    check("context.decision.all(key, key != 'x')", "bool");
    check("context.last.map(x, x.y)", "list");
    check("input.files.map(f, [f.size].map(n, n + 1))", "list of list of int");
    refuse(
        "input.files.all(f, f.sise > 0)",
        expect![[r#"
        input.files.all(f, f.sise > 0)
                             ^^^^
        E0306 `f` has no field `sise` (did you mean `size`?)
    "#]],
    );
    refuse(
        "input.files.filter(f, f.path)",
        expect![[r#"
        input.files.filter(f, f.path)
                              ^^^^^^
        E0307 `? :` needs a bool, this is string (compare it with a string: `… == '…'`)
    "#]],
    );
    refuse(
        "input.files.exists(f, f.path > context.iteratoin)",
        expect![[r#"
        input.files.exists(f, f.path > context.iteratoin)
                                               ^^^^^^^^^
        E0306 `context` has no field `iteratoin` (did you mean `iteration`?)
    "#]],
    );
    refuse(
        "input.goal.all(c, c == 'x')",
        expect![[r#"
        input.goal.all(c, c == 'x')
        ^^^^^^^^^^
        E0307 only lists and maps have elements, this is string
    "#]],
    );
}

#[test]
fn misspelt_fields_are_found() {
    refuse(
        "context.iteratoin < 3",
        expect![[r#"
        context.iteratoin < 3
                ^^^^^^^^^
        E0306 `context` has no field `iteratoin` (did you mean `iteration`?)
    "#]],
    );
    refuse(
        "context['iteratoin'] < 3",
        expect![[r#"
        context['iteratoin'] < 3
                ^^^^^^^^^^^
        E0306 `context` has no field `iteratoin` (did you mean `iteration`?)
    "#]],
    );
    refuse(
        "context.decision.verdict == 'x'",
        expect![[r#"
        context.decision.verdict == 'x'
                         ^^^^^^^
        E0306 `context.decision` has no field `verdict` (its fields are `score`, `status`)
    "#]],
    );
    refuse(
        "_event.data.cod == 1 || has(event.stauts)",
        expect![[r#"
        _event.data.cod == 1 || has(event.stauts)
                    ^^^
        E0306 `_event.data` has no field `cod` (did you mean `code`?)
                                          ^^^^^^
        E0306 `event` has no field `stauts` (did you mean `status`?)
    "#]],
    );
    refuse(
        "input.files[0].paht",
        expect![[r#"
        input.files[0].paht
                       ^^^^
        E0306 `input.files[0]` has no field `paht` (did you mean `path`?)
    "#]],
    );
    refuse(
        "input.files[0]['paht']",
        expect![[r#"
        input.files[0]['paht']
                       ^^^^^^
        E0306 `input.files[0]` has no field `paht` (did you mean `path`?)
    "#]],
    );
    refuse(
        "input.goal.length",
        expect![[r#"
        input.goal.length
                   ^^^^^^
        E0306 `input.goal` is string and has no field `length`
    "#]],
    );
    refuse(
        "{'a': 1}.b",
        expect![[r#"
        {'a': 1}.b
                 ^
        E0306 `{'a': 1}` has no field `b` (its fields are `a`)
    "#]],
    );
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    refuse(
        "context.iteration < 'x'",
        expect![[r#"
        context.iteration < 'x'
        ^^^^^^^^^^^^^^^^^^^^^^^
        E0307 `<` cannot compare int with string
    "#]],
    );
    refuse(
        "context.iteration == '3'",
        expect![[r#"
        context.iteration == '3'
        ^^^^^^^^^^^^^^^^^^^^^^^^
        E0307 `==` cannot compare int with string
    "#]],
    );
    refuse(
        "context.done && context.iteration",
        expect![[r#"
        context.done && context.iteration
                        ^^^^^^^^^^^^^^^^^
        E0307 `&&` needs a bool, this is int (compare it with a number: `… > 0`)
    "#]],
    );
    refuse(
        "!input.goal || context.names",
        expect![[r#"
        !input.goal || context.names
         ^^^^^^^^^^
        E0307 `!` needs a bool, this is string (compare it with a string: `… == '…'`)
                       ^^^^^^^^^^^^^
        E0307 `||` needs a bool, this is list of string (ask for its size: `size(…) > 0`)
    "#]],
    );
    refuse(
        "context.iteration + 0.5",
        expect![[r#"
        context.iteration + 0.5
        ^^^^^^^^^^^^^^^^^^^^^^^
        E0307 `+` cannot be applied to int and double (int and double do not mix: convert one side with `double(…)` or `int(…)`)
    "#]],
    );
    refuse(
        "'n: ' + context.iteration",
        expect![[r#"
        'n: ' + context.iteration
        ^^^^^^^^^^^^^^^^^^^^^^^^^
        E0307 `+` cannot be applied to string and int (convert the other side with `string(…)`, or write the text with `${…}` in it)
    "#]],
    );
    refuse(
        "context.names - 1",
        expect![[r#"
        context.names - 1
        ^^^^^^^^^^^^^^^^^
        E0307 `-` cannot be applied to list of string and int
    "#]],
    );
    refuse(
        "input.rate % 2.0",
        expect![[r#"
        input.rate % 2.0
        ^^^^^^^^^^^^^^^^
        E0307 `%` cannot be applied to double and double
    "#]],
    );
    refuse(
        "-input.goal",
        expect![[r#"
        -input.goal
         ^^^^^^^^^^
        E0307 `-` needs a number, this is string
    "#]],
    );
    refuse(
        "context.names < ['a']",
        expect![[r#"
        context.names < ['a']
        ^^^^^^^^^^^^^^^^^^^^^
        E0307 `<` cannot compare list of string with list of string
    "#]],
    );
    refuse(
        "null < 1",
        expect![[r#"
        null < 1
        ^^^^^^^^
        E0307 `<` cannot compare null with int
    "#]],
    );
    refuse(
        "1 in context.names",
        expect![[r#"
        1 in context.names
        ^^^^^^^^^^^^^^^^^^
        E0307 `in` cannot find int in list of string
    "#]],
    );
    refuse(
        "1 in input.goal",
        expect![[r#"
        1 in input.goal
        ^^^^^^^^^^^^^^^
        E0307 `in` cannot find int in string
    "#]],
    );
    refuse(
        "context.iteration ? 1 : 2",
        expect![[r#"
        context.iteration ? 1 : 2
        ^^^^^^^^^^^^^^^^^
        E0307 `? :` needs a bool, this is int (compare it with a number: `… > 0`)
    "#]],
    );
    refuse(
        "context.names['a']",
        expect![[r#"
        context.names['a']
                      ^^^
        E0306 `context.names` is list of string and has no field `a`
    "#]],
    );
    refuse(
        "input.extra[1] == context.iteration[0]",
        expect![[r#"
        input.extra[1] == context.iteration[0]
                    ^
        E0307 a map is indexed with a string, this is int
                                            ^
        E0307 `context.iteration` is int and cannot be indexed
    "#]],
    );
    refuse(
        "size(context.iteration)",
        expect![[r#"
        size(context.iteration)
             ^^^^^^^^^^^^^^^^^
        E0307 `size` needs a string, a list or a map, this is int
    "#]],
    );
    refuse(
        "context.iteration.startsWith(1)",
        expect![[r#"
        context.iteration.startsWith(1)
        ^^^^^^^^^^^^^^^^^
        E0307 `startsWith` needs a string, this is int
                                     ^
        E0307 `startsWith` needs a string, this is int
    "#]],
    );
    refuse(
        "{1: 'a'}",
        expect![[r#"
        {1: 'a'}
         ^
        E0307 the keys of a map are strings, this is int
    "#]],
    );
    refuse(
        "{'a': 1, 'a': 2}",
        expect![[r#"
        {'a': 1, 'a': 2}
                 ^^^
        E0307 the key 'a' is given twice
    "#]],
    );
    refuse(
        "context.names == [1]",
        expect![[r#"
        context.names == [1]
        ^^^^^^^^^^^^^^^^^^^^
        E0307 `==` cannot compare list of string with list of int
    "#]],
    );
}

#[test]
fn strings_that_can_never_be_equal_are_refused() {
    refuse(
        "event.status == 'PASSED'",
        expect![[r#"
        event.status == 'PASSED'
                        ^^^^^^^^
        E0308 `event.status` is never 'PASSED' (did you mean `PASS`?)
    "#]],
    );
    refuse(
        "'pass' != event.status",
        expect![[r#"
        'pass' != event.status
        ^^^^^^
        E0308 `event.status` is never 'pass' (did you mean `PASS`?)
    "#]],
    );
    refuse(
        "event.status in ['PASS', 'BROKEN']",
        expect![[r#"
        event.status in ['PASS', 'BROKEN']
                                 ^^^^^^^^
        E0308 `event.status` is never 'BROKEN' (it can be `PASS`, `FAIL`)
    "#]],
    );
    refuse(
        "event.status == input.mode",
        expect![[r#"
        event.status == input.mode
        ^^^^^^^^^^^^^^^^^^^^^^^^^^
        E0308 these strings have no value in common (string ('PASS', 'FAIL') and string ('fast', 'careful'))
    "#]],
    );
    refuse(
        "'PASSED' in [event.status]",
        expect![[r#"
        'PASSED' in [event.status]
        ^^^^^^^^
        E0308 `event.status` is never 'PASSED' (did you mean `PASS`?)
    "#]],
    );
}

#[test]
fn a_value_must_have_the_expected_type() {
    accept_as(&Type::Bool, "context.last");
    accept_as(&Type::Double, "context.iteration");
    let verdict =
        Type::of_schema(&json!({"properties": {"status": {"enum": ["PASS", "FAIL"]}, "n": {"type": "integer"}}}));
    accept_as(&verdict, "{'status': context.done ? 'PASS' : 'FAIL', 'n': event.code}");
    accept_as(&verdict, "event.status == 'PASS' ? {'status': input.goal} : context.last");
    refuse_as(
        &Type::Bool,
        "context.iteration",
        expect![[r#"
        context.iteration
        ^^^^^^^^^^^^^^^^^
        E0309 this is int, bool is expected (compare it with a number: `… > 0`)
    "#]],
    );
    refuse_as(
        &Type::Bool,
        "context.names.filter(n, n == 'a')",
        expect![[r#"
        context.names.filter(n, n == 'a')
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        E0309 this is list of string, bool is expected (ask for its size: `size(…) > 0`)
    "#]],
    );
    refuse_as(
        &Type::Int,
        "context.done ? 1 : input.rate",
        expect![[r#"
        context.done ? 1 : input.rate
                           ^^^^^^^^^^
        E0309 this is double, int is expected (convert it with `int(…)`)
    "#]],
    );
    refuse_as(
        &Type::Str(None),
        "1 + 1",
        expect![[r#"
        1 + 1
        ^^^^^
        E0309 this is int, string is expected (convert it with `string(…)`)
    "#]],
    );
    refuse_as(
        &verdict,
        "{'status': 'PAS', 'n': 'x', 'm': 1}",
        expect![[r#"
            {'status': 'PAS', 'n': 'x', 'm': 1}
                       ^^^^^
            E0308 'PAS' is not a value that is allowed here (did you mean `PASS`?)
                                   ^^^
            E0309 this is string, int is expected
                                        ^^^
            E0306 `{'status': 'PAS', 'n': 'x', 'm': 1}` has no field `m` (its fields are `n`, `status`)
        "#]],
    );
    refuse_as(
        &Type::List(Box::new(Type::Int)),
        "['a']",
        expect![[r#"
        ['a']
        ^^^^^
        E0309 this is list of string, list of int is expected
    "#]],
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    refuse(
        "context.iteratoin < 'x' && context.done > 1 && input.gaol",
        expect![[r#"
        context.iteratoin < 'x' && context.done > 1 && input.gaol
                ^^^^^^^^^
        E0306 `context` has no field `iteratoin` (did you mean `iteration`?)
                                   ^^^^^^^^^^^^^^^^
        E0307 `>` cannot compare bool with int
                                                             ^^^^
        E0306 `input` has no field `gaol` (did you mean `goal`?)
    "#]],
    );
}
