//! Rewrites ECMAScript expressions that CEL can express with the same meaning.
//!
//! | ECMAScript | CEL |
//! |---|---|
//! | `{a: 1}` | `{'a': 1}` |
//! | `Math.pow(x, 3)` | `(x * x * x)` |
//! | `x instanceof Array` | `(type(dyn(x)) == type([]))` |
//! | `[].concat(a, [b])` | `([] + a + [b])` |
//! | `'name' in _event` | `true`: an event has all of SCXML's fields, some of them empty |
//! | `_ioprocessors` | a map with the only processor, SCXML's own |

use super::expression::{Kind, Token, scan};

/// The maximum power that is written as a product.
const POWER_MAX: usize = 8;
/// The maximum number of tokens of a concatenation. Every `[` could begin one, so this bounds the search.
const JOINED_TOKENS_MAX: usize = 64;
/// The fields that SCXML gives every event.
const EVENT_FIELDS: [&str; 7] = ["name", "type", "sendid", "origin", "origintype", "invokeid", "data"];
/// SCXML's own processor under both of its names. Events reach it at the session's address.
const PROCESSORS: &str = "{'scxml': {'location': '#_scxml_' + _sessionid}, \
    'http://www.w3.org/TR/scxml/#SCXMLEventProcessor': {'location': '#_scxml_' + _sessionid}}";

/// Returns the expression in CEL. Parts that are not in the table are unchanged.
pub(super) fn cel(source: &str, is_variable: impl Fn(&str) -> bool) -> String {
    let Some(tokens) = scan(source) else { return source.to_owned() };
    let mut out = String::with_capacity(source.len());
    let (mut at, mut done) = (0, 0);
    while at < tokens.len() {
        out.push_str(&source[done..tokens[at].start]);
        let (words, length) = reworded(source, &tokens, at, &is_variable);
        out.push_str(&words);
        at += length;
        done = end(&tokens[at - 1]);
    }
    out.push_str(&source[done..]);
    out
}

/// Replaces `|` between comparisons by `||`, which is equivalent for booleans.
pub(super) fn condition(source: &str) -> String {
    let doubled = ["||", "&&"].iter().any(|operator| source.contains(operator));
    let Some(tokens) = scan(source).filter(|_| !doubled) else { return source.to_owned() };
    let mut out = source.to_owned();
    for bar in tokens.iter().rev().filter(|token| token.text == "|") {
        out.insert(bar.start, '|');
    }
    out
}

/// Returns true if the expression divides: `7 / 2` has a fraction in ECMAScript but not in CEL.
pub(super) fn divides(source: &str) -> bool {
    scan(source).is_some_and(|tokens| tokens.iter().any(|token| token.text == "/"))
}

fn end(token: &Token<'_>) -> usize {
    token.start + token.text.len()
}

/// Returns the replacement for the construct that begins at a token, and its number of tokens.
fn reworded(source: &str, tokens: &[Token<'_>], at: usize, is_variable: impl Fn(&str) -> bool) -> (String, usize) {
    let rest = &tokens[at..];
    let text = |index: usize| rest.get(index).map_or("", |token| token.text);
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text);
    let word = rest[0].kind == Kind::Word;
    if word && matches!(before, "{" | ",") && text(1) == ":" && !is_variable(text(0)) {
        return (format!("'{}'", text(0)), 1);
    }
    if let Some(power) = power(rest) {
        return (power, 8);
    }
    if word && before != "." && text(1) == "instanceof" && text(2) == "Array" {
        return (format!("(type(dyn({})) == type([]))", text(0)), 3);
    }
    if let Some((joined, length)) = concatenation(source, rest) {
        return (joined, length);
    }
    let is_field = rest[0].kind == Kind::Text && EVENT_FIELDS.contains(&text(0).trim_matches(['\'', '"']));
    if is_field && text(1) == "in" && text(2) == "_event" && text(3) != "." {
        return ("true".to_owned(), 3);
    }
    if text(0) == "_ioprocessors" && before != "." {
        return (PROCESSORS.to_owned(), 1);
    }
    (text(0).to_owned(), 1)
}

/// Rewrites `Math.pow(x, 3)` as a product.
fn power(tokens: &[Token<'_>]) -> Option<String> {
    let [math, dot, pow, open, base, comma, exponent, close, ..] = tokens else { return None };
    let marks = [math.text, dot.text, pow.text, open.text, comma.text, close.text];
    let exponent: usize = exponent.text.parse().ok().filter(|exponent| (1..=POWER_MAX).contains(exponent))?;
    let fits = marks == ["Math", ".", "pow", "(", ",", ")"] && base.kind == Kind::Word;
    fits.then(|| format!("({})", vec![base.text; exponent].join(" * ")))
}

/// Rewrites `[].concat(a, [b])` if every part is a variable or a list.
fn concatenation(source: &str, tokens: &[Token<'_>]) -> Option<(String, usize)> {
    let texts: Vec<_> = tokens.iter().take(5).map(|token| token.text).collect();
    if texts != ["[", "]", ".", "concat", "("] {
        return None;
    }
    let (mut depth, mut from, mut joined) = (1_usize, 5, "([]".to_owned());
    for (at, token) in tokens.iter().enumerate().take(JOINED_TOKENS_MAX).skip(5) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        let is_end = depth == 0;
        if is_end || (depth == 1 && token.text == ",") {
            let part = tokens.get(from..at).filter(|part| is_list_or_variable(part))?;
            joined.push_str(" + ");
            joined.push_str(&source[part[0].start..end(&part[part.len() - 1])]);
            from = at + 1;
        }
        if is_end {
            joined.push(')');
            return Some((joined, at + 1));
        }
    }
    None
}

fn is_list_or_variable(part: &[Token<'_>]) -> bool {
    match part {
        [] => false,
        [one] => one.kind == Kind::Word,
        [first, .., last] => first.text == "[" && last.text == "]",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_expressions_are_rewritten_in_cel() {
        let cases = [
            ("{p1: 'v1', p2: {q : 2}}", "{'p1': 'v1', 'p2': {'q' : 2}}"),
            ("{x: 1}", "{x: 1}"),
            ("x ? f(a, b) : c", "x ? f(a, b) : c"),
            ("Math.pow(i,3) + 1", "(i * i * i) + 1"),
            ("Math.pow(i, 99)", "Math.pow(i, 99)"),
            ("a instanceof Array && b", "(type(dyn(a)) == type([])) && b"),
            ("[].concat(a, [4, 5])", "([] + a + [4, 5])"),
            ("[].concat(a, 4)", "[].concat(a, 4)"),
            ("[].concat(a", "[].concat(a"),
            ("'sendid' in _event && \"name\" in _event", "true && true"),
            ("'sendid' in _event.data", "'sendid' in _event.data"),
            ("'Math.pow(i,3)'", "'Math.pow(i,3)'"),
        ];
        for (source, expected) in cases {
            assert_eq!(cel(source, |name| name == "x"), expected, "{source}");
        }
    }

    #[test]
    fn a_bar_between_comparisons_is_an_or() {
        let cases = [
            ("a==0 | b != 2", "a==0 || b != 2"),
            ("a || b", "a || b"),
            ("a | b && c", "a | b && c"),
            ("'|' == x", "'|' == x"),
        ];
        for (source, expected) in cases {
            assert_eq!(condition(source), expected, "{source}");
        }
    }
}
