//! The parser: the tree of a text, and diagnostics for text that is not an expression.

use expect_test::{Expect, expect};

use super::{read, show, show_problems, span};
use crate::{Span, expr::Names};

fn check(source: &str, expected: &str) {
    match read(source) {
        Ok(expr) => {
            assert_eq!(show(&expr.node), expected, "{source}");
            assert_eq!((expr.source.as_str(), expr.span), (source, span(source)));
        }
        Err(problems) => panic!("{}", show_problems(source, &problems)),
    }
}

fn refuse(source: &str, expected: Expect) {
    match read(source) {
        Ok(expr) => panic!("{source} became {}", show(&expr.node)),
        Err(problems) => expected.assert_eq(&show_problems(source, &problems)),
    }
}

#[test]
fn constants_become_literals() {
    check("null", "null");
    check("true", "true");
    check("-12", "-12");
    check("0x1f", "31");
    check("1.5", "1.5");
    check("1e3", "1000.0");
    check(r#"'it\'s "é"'"#, r#""it's \"é\"""#);
    check("r'\\d'", r#""\\d""#);
    check("[1, 'a', []]", r#"[1 "a" []]"#);
    check("{'a': 1, 'b': context.b}", r#"{"a": 1 "b": context.b}"#);
}

#[test]
fn variables_become_paths() {
    check("context", "context");
    check("context.decision.status", "context.decision.status");
    check("context['decision'].status", "context.decision.status");
    check("context . decision", "context.decision");
    check("(context).decision", "context.decision");
    check(".context.decision", "context.decision");
    check("input.goal", "input.goal");
    check("event.code", "event.code");
    check("_event.data", "event");
    check("_event.data.code", "event.code");
    check("_event['data']['co-de']", "event.co-de");
    check("_event.name", "eventname");
    check("_name", "name");
    check("_sessionid", "sessionid");
}

#[test]
fn states_and_counters_become_indices() {
    check("state.TESTING.visits", "visits#1");
    check("state.TEST_SETUP.active", "active#2");
    check("state['odd-name'].visits", "visits#3");
    check("In('IDLE')", "active#0");
    check("count.retries", "count#1");
    check("count['fixes'] < 3", "(< count#0 3)");
}

#[test]
fn operators_nest_as_in_cel() {
    check("1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)");
    check("a_b.c == 1 || true".replace("a_b", "context").as_str(), "(|| (== context.c 1) true)");
    check("!context.a && context.b", "(&& (not context.a) context.b)");
    check("!!context.a", "context.a");
    check("-context.a", "(negate context.a)");
    check("1 < 2 == true", "(== (< 1 2) true)");
    check("1 % 2 / 3", "(/ (% 1 2) 3)");
    check("1 != 2", "(!= 1 2)");
    check("1 > 2 ? 1 >= 2 : 1 <= 2", "(if (> 1 2) (>= 1 2) (<= 1 2))");
    check("'a' in context.list", r#"(in "a" context.list)"#);
    check("context.a ? 1 : context.b ? 2 : 3", "(if context.a 1 (if context.b 2 3))");
}

#[test]
fn other_paths_are_indexed_or_selected() {
    check("context.list[0]", "(index context.list 0)");
    check("context.list[0].name", "(field (index context.list 0) name)");
    check("context.list[0]['name']", r#"(index (index context.list 0) "name")"#);
    check("context.by_name[event.name]", "(index context.by_name event.name)");
    check("{'a': 1}.a", r#"(field {"a": 1} a)"#);
}

#[test]
fn has_and_size_have_their_own_nodes() {
    check("has(context.a.b)", "has(context.a.b)");
    check("has(_event.data.x)", "has(event.x)");
    check("has(_event.data)", "true");
    check("has(context['a'].b)", "has(context.a.b)");
    check("size(context.list) > 0", "(> (size context.list) 0)");
    check("context.list.size()", "(size context.list)");
}

#[test]
fn other_expressions_are_opaque_with_the_paths_they_read() {
    check("context.list.all(x, x > input.least) && event.ok", "opaque input.least context.list event.ok");
    check("context.list.exists(context, context.a)", "opaque context.list");
    check("context.list.map(x, [x].map(y, y + x + event.n))", "opaque context.list event.n");
    check("context.list.filter(x, has(x.a)).size() == 1", "opaque context.list");
    check("input.goal.startsWith('x')", "opaque input.goal");
    check("input.goal.matches('^x') || In('IDLE')", "opaque input.goal");
    check("has(context.list[0].a)", "opaque context.list");
    check("string(state.IDLE.visits)", "opaque");
    check("type(event.x) == int", "opaque event.x");
    check("1u < 2u", "opaque");
    check("b'x' == b'y'", "opaque");
    check("_event == context.last", "opaque context.last event eventname");
}

#[test]
fn unknown_names_are_refused_with_a_hint() {
    refuse(
        "contxt.a > 1",
        expect![[r#"
        contxt.a > 1
        ^^^^^^
        E0303 there is no variable `contxt` (did you mean `context`?)
    "#]],
    );
    refuse(
        "iteration < 3",
        expect![[r#"
        iteration < 3
        ^^^^^^^^^
        E0303 there is no variable `iteration` (a variable of the context is written `context.iteration`, a string `'iteration'`)
    "#]],
    );
    refuse(
        "TESTING || fixes > 1",
        expect![[r#"
        TESTING || fixes > 1
        ^^^^^^^
        E0303 there is no variable `TESTING` (whether the state is active is written `In('TESTING')`, how often it was entered `state.TESTING.visits`)
                   ^^^^^
        E0303 there is no variable `fixes` (the counter's value is written `count.fixes`)
    "#]],
    );
    refuse(
        "state.TESTIN.visits > 0 && state.IDLE.visit > 0",
        expect![[r#"
        state.TESTIN.visits > 0 && state.IDLE.visit > 0
              ^^^^^^
        E0304 there is no state `TESTIN` (did you mean `TESTING`?)
                                              ^^^^^
        E0306 a state has no field `visit` (did you mean `visits`?)
    "#]],
    );
    refuse(
        "state.IDLE",
        expect![[r#"
        state.IDLE
        ^^^^^
        E0304 `state` is not a value by itself (write `state.NAME.visits` or `state.NAME.active`)
    "#]],
    );
    refuse(
        "count > 1",
        expect![[r#"
        count > 1
        ^^^^^
        E0304 `count` is not a value by itself (write `count.NAME`)
    "#]],
    );
    refuse(
        "count.fixs + count.fixes.x",
        expect![[r#"
        count.fixs + count.fixes.x
              ^^^^
        E0304 there is no counter `fixs` (did you mean `fixes`?)
                                 ^
        E0306 a counter has no field `x`
    "#]],
    );
    refuse(
        "In('TSETING')",
        expect![[r#"
        In('TSETING')
           ^^^^^^^^^
        E0304 there is no state `TSETING` (did you mean `TESTING`?)
    "#]],
    );
    refuse(
        "In(event.name)",
        expect![[r#"
        In(event.name)
           ^^^^^^^^^^
        E0304 `In` takes the name of a state, in quotes (write `In('STATE')`)
    "#]],
    );
    refuse(
        "_event.nam",
        expect![[r#"
        _event.nam
               ^^^
        E0306 `_event` has no field `nam` (did you mean `name`?)
    "#]],
    );
    refuse(
        "context.list.all(x, y.z > x)",
        expect![[r#"
        context.list.all(x, y.z > x)
                            ^
        E0303 there is no variable `y` (a variable of the context is written `context.y`, a string `'y'`)
    "#]],
    );
    refuse(
        "Point{x: 1}",
        expect![[r#"
        Point{x: 1}
             ^^^^^^
        E0303 there is no type `Point` to make a value of (a map is written `{'field': value}`)
    "#]],
    );
}

#[test]
fn unknown_functions_are_refused_with_a_hint() {
    refuse(
        "input.goal.startWith('x')",
        expect![[r#"
        input.goal.startWith('x')
                   ^^^^^^^^^
        E0305 there is no function `startWith` (did you mean `startsWith`?)
    "#]],
    );
    refuse(
        "math.abs(1)",
        expect![[r#"
        math.abs(1)
             ^^^
        E0305 there is no function `abs`
    "#]],
    );
    refuse(
        "size(1, 2)",
        expect![[r#"
        size(1, 2)
        ^^^^
        E0305 `size` is not called like this (it is written `size(a)` or `x.size()`)
    "#]],
    );
    refuse(
        "context.list.all(x)",
        expect![[r#"
        context.list.all(x)
                     ^^^
        E0305 `all` is not called like this (it is written `list.all(x, condition)`)
                         ^
        E0303 there is no variable `x` (a variable of the context is written `context.x`, a string `'x'`)
    "#]],
    );
    refuse(
        "timestamp('2020-01-01T00:00:00Z')",
        expect![[r#"
        timestamp('2020-01-01T00:00:00Z')
        ^^^^^^^^^
        E0305 there is no function `timestamp`
    "#]],
    );
}

#[test]
fn bad_syntax_is_shown_where_it_begins() {
    refuse(
        "",
        expect![[r#"

        ^
        E0301 the expression is empty
    "#]],
    );
    refuse(
        " // x",
        expect![[r#"
         // x
        ^^^^^
        E0301 the expression is empty
    "#]],
    );
    refuse(
        "context.a ==",
        expect![[r#"
        context.a ==
                    ^
        E0301 the expression ends before it is complete
    "#]],
    );
    refuse(
        "context.a = 1",
        expect![[r#"
        context.a = 1
                  ^
        E0301 `=` cannot stand here (`==` compares; values are set under `assign`)
    "#]],
    );
    refuse(
        "context.a == 1 and true",
        expect![[r#"
        context.a == 1 and true
                       ^^^
        E0301 `and` cannot stand here (CEL writes `&&`)
    "#]],
    );
    refuse(
        "'é' + + 1",
        expect![[r#"
        'é' + + 1
              ^
        E0301 `+` cannot stand here
    "#]],
    );
    refuse(
        "context.\n  a b",
        expect![[r#"
        context.
          a b
                     ^
        E0301 `b` cannot stand here
    "#]],
    );
    refuse(
        "'open",
        expect![[r#"
        'open
        ^^^^^
        E0301 the string has no end
    "#]],
    );
    refuse(
        "if.context",
        expect![[r#"
        if.context
        ^^
        E0301 `if` is a reserved word of CEL (CEL writes `condition ? a : b`)
    "#]],
    );
    refuse(
        "has(context)",
        expect![[r#"
        has(context)
            ^^^^^^^
        E0301 `has` takes a field: `has(x.field)`
    "#]],
    );
    refuse(
        "[1, 2).all(x)",
        expect![[r#"
        [1, 2).all(x)
             ^
        E0301 `)` cannot stand here
    "#]],
    );
    refuse(
        "99999999999999999999",
        expect![[r#"
        99999999999999999999
        ^^^^^^^^^^^^^^^^^^^^
        E0301 `99999999999999999999` is too large a number
    "#]],
    );
    refuse(
        "context.?a",
        expect![[r#"
        context.?a
               ^
        E0301 unsupported syntax '.?'
    "#]],
    );
    refuse(
        "${input.goal}",
        expect![[r#"
        ${input.goal}
        ^
        E0301 `$` cannot stand here (`${…}` is for texts; this is an expression already)
    "#]],
    );
}

#[test]
fn a_problem_in_escaped_text_has_the_span_of_the_whole_text() {
    let whole = Span { start: 7, end: 30 };
    let problems = super::super::parse("nothing", whole, &Names { states: &[], counters: &[] }).unwrap_err();
    assert_eq!(problems[0].span, whole);
}
