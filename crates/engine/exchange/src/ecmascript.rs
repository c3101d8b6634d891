//! The meaning of ECMAScript expressions that have no equivalent in CEL, as far as it is known without a script engine.
//!
//! In SCXML, an expression that cannot be evaluated raises `error.execution` when it is evaluated. A document may
//! contain such an expression on purpose, so it is imported as an expression that fails. Only expressions that
//! certainly fail are imported this way. The others are refused, because a script engine might be able to evaluate
//! them.

use super::expression::{Token, scan};

/// Statements that are not expressions.
const STATEMENTS: [&str; 4] = ["return", "break", "continue", "throw"];

/// Names that a script engine defines without a declaration.
const GLOBALS: [&str; 24] = [
    "undefined",
    "NaN",
    "Infinity",
    "Math",
    "JSON",
    "Object",
    "Array",
    "String",
    "Number",
    "Boolean",
    "Date",
    "RegExp",
    "Error",
    "Symbol",
    "Map",
    "Set",
    "Promise",
    "this",
    "console",
    "globalThis",
    "process",
    "window",
    "require",
    "document",
];

/// Returns an expression that fails like this one, if this one certainly fails: a bare statement, unbalanced brackets,
/// or the name of an undeclared variable.
pub(super) fn failing(source: &str, is_declared: impl Fn(&str) -> bool) -> Option<String> {
    let source = source.trim();
    let first = source.split('.').next().unwrap_or_default();
    let fails = match path(source) {
        false => scan(source).is_some_and(|tokens| !is_balanced(&tokens)),
        true if STATEMENTS.contains(&source) => true,
        true => !first.starts_with('_') && !GLOBALS.contains(&first) && !is_declared(first),
    };
    let shown = source.replace(|letter: char| !(letter.is_alphanumeric() || " ._:,".contains(letter)), " ");
    fails.then(|| format!("dyn(int('{shown} cannot be evaluated'))"))
}

/// Returns true if all brackets are balanced.
fn is_balanced(tokens: &[Token<'_>]) -> bool {
    let mut open = Vec::new();
    for token in tokens {
        let opening = match token.text {
            "(" | "[" | "{" => {
                open.push(token.text);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        if open.pop() != Some(opening) {
            return false;
        }
    }
    open.is_empty()
}

/// Returns true if this is a legal name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    path(text) && !text.contains('.') && !STATEMENTS.contains(&text)
}

/// Returns true for names joined by dots.
fn path(source: &str) -> bool {
    source.split('.').all(|name| {
        name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
            && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
    })
}

/// Translates a comparison with `undefined`. A variable without a value is `null` here, an event without data carries
/// an empty map, and a field of the event that is `missing` is never present. Returns `None` for any other expression.
pub(super) fn defined(
    source: &str,
    is_declared: impl Fn(&str) -> bool,
    missing: impl Fn(&str) -> bool,
) -> Option<String> {
    let source = source.trim();
    let at = source.find("==").or_else(|| source.find("!="))?;
    let (left, right) = (source[..at].trim_end_matches('!').trim(), source[at..].trim_start_matches(['=', '!']).trim());
    let operator = if source[..at].ends_with('!') || source[at..].starts_with('!') { "!=" } else { "==" };
    let asked = match (left.strip_prefix("typeof "), right) {
        (Some(asked), "'undefined'" | "\"undefined\"") => asked.trim(),
        (None, "undefined") => left,
        _ => return None,
    };
    match asked {
        "_event.data" => Some(format!("_event.data {operator} {{}}")),
        _ if asked.strip_prefix("_event.").is_some_and(missing) => Some((operator == "==").to_string()),
        _ if path(asked) && is_declared(asked) => Some(format!("{asked} {operator} null")),
        _ => None,
    }
}

/// Returns the condition that ECMAScript considers a value true.
pub(super) fn truth(expression: &str) -> String {
    format!("!(dyn({expression}) in [dyn(null), dyn(false), dyn(0), dyn('')])")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_with_undefined_are_translated() {
        let is_declared = |name: &str| name == "x";
        let cases = [
            ("typeof x === 'undefined'", Some("x == null")),
            (" typeof x !== \"undefined\" ", Some("x != null")),
            ("x == undefined", Some("x == null")),
            ("x !== undefined", Some("x != null")),
            ("typeof _event.data === 'undefined' ", Some("_event.data == {}")),
            ("typeof _event.origin === 'undefined'", None),
            ("typeof _event.invokeid === 'undefined'", Some("true")),
            ("_event.invokeid !== undefined", Some("false")),
            ("typeof y == 'undefined'", None),
            ("typeof x == 'number'", None),
            ("x == 1", None),
            ("undefined", None),
        ];
        for (source, expected) in cases {
            assert_eq!(defined(source, is_declared, |field| field == "invokeid").as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn only_certain_failures_are_treated_as_failures() {
        let is_declared = |name: &str| name == "x";
        assert_eq!(failing("{p: 'v'", is_declared), Some("dyn(int(' p:  v  cannot be evaluated'))".to_owned()));
        for source in ["return", "foo", " foo.bar.baz "] {
            let failing = failing(source, is_declared);
            assert_eq!(failing, Some(format!("dyn(int('{} cannot be evaluated'))", source.trim())));
        }
        for source in [
            "x",
            "x.y",
            "undefined",
            "Math.PI",
            "_ioprocessors",
            "foo()",
            "foo + 1",
            "(x) + [x]",
            "'no end",
            "typeof foo",
            "",
            "1",
            "a..b",
        ] {
            assert_eq!(failing(source, is_declared), None, "{source}");
        }
    }
}
