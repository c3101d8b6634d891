//! Expressions of foreign charts: whether they are CEL, and how they are worded in a machine file.
//!
//! Much of what people write into `cond` and `expr` reads the same in ECMAScript and in CEL; `===` and `!==` are CEL's `==` and
//! `!=`. What does not parse as CEL, or names something that only a script engine has, is refused rather than guessed at. Types
//! are left to the reader.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::{
    Diagnostic, Span,
    expr::{self, Names},
};

/// Longer texts are not looked at: an expression of a machine file is shorter anyway.
const SOURCE_BYTES_MAX: usize = 4 * expr::SOURCE_CHARS_MAX;
/// The code of an expression that is too long or too deep.
const TOO_LARGE: &str = "E0302";
/// Macros whose first argument is a variable of their own.
const BINDERS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

/// Why an expression cannot be carried over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Longer or deeper than expressions may be.
    TooBig,
    /// It is not CEL, or needs what only a script engine has.
    NotCel(String),
}

/// What the names in an expression stand for.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Variables of the context, which foreign charts name without `context.`.
    pub(super) variables: BTreeSet<String>,
    /// States by their foreign id.
    pub(super) states: BTreeMap<String, String>,
    /// Every state, by our name.
    pub(super) names: Vec<String>,
}

impl Scope {
    /// The expression as a machine file words it.
    pub(super) fn translate(&self, source: &str) -> Result<String, Refused> {
        if source.len() > SOURCE_BYTES_MAX {
            return Err(Refused::TooBig);
        }
        let source = source.trim();
        let tokens = scan(source).ok_or_else(|| Refused::NotCel("a string has no end".to_owned()))?;
        if has_event_as_a_whole(&tokens) {
            return Err(Refused::NotCel("of the event there are only `_event.name` and `_event.data`".to_owned()));
        }
        let reworded = self.reword(source, &tokens, &bound_names(&tokens));
        let names = Names { states: &self.names, counters: &[] };
        match expr::parse(&reworded, Span::default(), &names) {
            Ok(_) => Ok(reworded),
            Err(problems) => Err(refused(&problems)),
        }
    }

    /// Puts `context.` before the foreign chart's variables and our names of states into `In('…')`.
    fn reword(&self, source: &str, tokens: &[Token<'_>], bound: &[&str]) -> String {
        let mut out = String::with_capacity(source.len() + 16);
        let mut done = 0;
        for (at, token) in tokens.iter().enumerate() {
            out.push_str(&source[done..token.start]);
            done = token.start + token.text.len();
            let before = at.checked_sub(1).map(|at| tokens[at].text);
            let after = tokens.get(at + 1).map(|token| token.text);
            let variable = token.kind == Kind::Word && before != Some(".") && after != Some("(");
            if variable && !bound.contains(&token.text) && self.variables.contains(token.text) {
                out.push_str("context.");
                out.push_str(token.text);
            } else if token.kind == Kind::Text && is_argument_of_in(tokens, at) {
                out.push_str(&self.state_argument(token.text));
            } else if is_third_mark(tokens, at) {
                // `===` and `!==`: the third mark is all that sets them apart.
            } else if is_whole_data(tokens, at) {
                // Foreign events carry anything, not only maps.
                out.truncate(out.len() - "_event.".len());
                out.push_str("dyn(_event.data)");
            } else {
                out.push_str(token.text);
            }
        }
        out.push_str(&source[done..]);
        out
    }

    fn state_argument(&self, quoted: &str) -> String {
        let id = &quoted[1..quoted.len() - 1];
        match self.states.get(id) {
            Some(name) => format!("'{name}'"),
            None => quoted.to_owned(),
        }
    }
}

/// A value as a machine file holds it: a literal as it is, anything else in `${…}`. `expression` is already ours.
pub(super) fn template(expression: &str) -> Json {
    match literal(expression) {
        Some(value) => escaped(value),
        None => Json::String(format!("${{{expression}}}")),
    }
}

/// The value of an expression that is nothing but a literal.
pub(super) fn literal(expression: &str) -> Option<Json> {
    let text = expression.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.contains(['\'', '\\'])).then(|| Json::String(inner.to_owned()))
}

/// A literal value whose strings cannot be taken for templates.
pub(super) fn escaped(value: Json) -> Json {
    match value {
        Json::String(text) => Json::String(escaped_text(&text)),
        Json::Array(items) => items.into_iter().map(escaped).collect(),
        Json::Object(fields) => fields.into_iter().map(|(name, value)| (name, escaped(value))).collect(),
        other => other,
    }
}

/// A literal text that cannot be taken for a template.
pub(super) fn escaped_text(text: &str) -> String {
    text.replace("${", "$${")
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name.
    Word,
    /// A number.
    Number,
    /// A string with its quotes.
    Text,
    /// One sign.
    Mark,
}

/// A word of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// The byte it begins at.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

/// The tokens of an expression; nothing where a string has no end.
pub(super) fn scan(source: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let (kind, length) = measure(&source[at..], first)?;
        if let Some(kind) = kind {
            tokens.push(Token { kind, start: at, text: &source[at..at + length] });
        }
        at += length;
    }
    Some(tokens)
}

/// The kind and length of the token that `rest` begins with; no kind for space. Nothing for a string without an end.
fn measure(rest: &str, first: char) -> Option<(Option<Kind>, usize)> {
    let while_true = |test: fn(char) -> bool| rest.find(|letter| !test(letter)).unwrap_or(rest.len());
    Some(match first {
        _ if first.is_whitespace() => (None, while_true(char::is_whitespace)),
        '"' | '\'' => (Some(Kind::Text), text_length(rest, first)?),
        _ if first.is_ascii_digit() => (Some(Kind::Number), while_true(|c| c.is_ascii_alphanumeric())),
        _ if first == '_' || first.is_alphabetic() => {
            (Some(Kind::Word), while_true(|c| c == '_' || c.is_alphanumeric()))
        }
        _ => (Some(Kind::Mark), first.len_utf8()),
    })
}

/// The length of the string that `rest` begins with, quotes included; nothing where it has no end.
pub(super) fn text_length(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return Some(at + letter.len_utf8()),
            _ => {}
        }
    }
    None
}

/// What stands between the `+` of a sum; nothing where it is no sum on its outermost level.
pub(super) fn summands(source: &str) -> Option<Vec<&str>> {
    let (mut depth, mut from, mut parts) = (0_i32, 0, Vec::new());
    for token in scan(source)? {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "+" if depth == 0 => {
                parts.push(source[from..token.start].trim());
                from = token.start + 1;
            }
            "?" | "|" | "&" | "=" | "<" | ">" | "!" if depth == 0 => return None,
            _ => {}
        }
    }
    parts.push(source[from..].trim());
    Some(parts)
}

/// Variables that macros such as `list.all(x, x > 1)` bring with them.
fn bound_names<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let binder = |four: &[Token<'a>]| {
        let macro_call = BINDERS.contains(&four[0].text) && four[1].text == "(";
        (macro_call && four[2].kind == Kind::Word && four[3].text == ",").then_some(four[2].text)
    };
    tokens.windows(4).filter_map(binder).collect()
}

fn refused(problems: &[Diagnostic]) -> Refused {
    match problems.first() {
        Some(problem) if problem.code == TOO_LARGE => Refused::TooBig,
        Some(problem) => Refused::NotCel(problem.message.clone()),
        None => Refused::NotCel("it is not CEL".to_owned()),
    }
}

/// Whether this is the last `=` of a `===` or `!==`.
fn is_third_mark(tokens: &[Token<'_>], at: usize) -> bool {
    let mark = |back: usize| at.checked_sub(back).map(|at| (tokens[at].text, tokens[at].start));
    let here = tokens[at].start;
    tokens[at].text == "="
        && mark(1) == Some(("=", here.wrapping_sub(1)))
        && [Some(("=", here.wrapping_sub(2))), Some(("!", here.wrapping_sub(2)))].contains(&mark(2))
        && mark(3) != Some(("=", here.wrapping_sub(3)))
}

/// Whether this is the `data` of an `_event.data` that is taken as a whole, written without spaces.
fn is_whole_data(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(from) = at.checked_sub(2) else { return false };
    let [event, dot, data] = [tokens[from], tokens[from + 1], tokens[at]];
    let joined = event.start + "_event.data".len() == data.start + data.text.len();
    let is_part = tokens.get(at + 1).is_some_and(|next| matches!(next.text, "." | "["));
    event.text == "_event" && dot.text == "." && data.text == "data" && joined && !is_part
}

/// Whether `_event` stands somewhere without `.name` or `.data`.
fn has_event_as_a_whole(tokens: &[Token<'_>]) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    (0..tokens.len()).any(|at| {
        let is_variable = text(at) == "_event" && (at == 0 || text(at - 1) != ".");
        is_variable && !(text(at + 1) == "." && matches!(text(at + 2), "name" | "data"))
    })
}

fn is_argument_of_in(tokens: &[Token<'_>], at: usize) -> bool {
    at >= 2 && tokens[at - 1].text == "(" && tokens[at - 2].text == "In"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        let states = [("a.b".to_owned(), "a_b".to_owned()), ("s1".to_owned(), "s1".to_owned())];
        Scope {
            variables: ["x".to_owned(), "list".to_owned()].into(),
            names: states.iter().map(|(_, name)| name.clone()).collect(),
            states: states.into(),
        }
    }

    #[test]
    fn variables_get_their_root_and_states_their_new_name() {
        let cases = [
            ("x == 1", "context.x == 1"),
            ("x+x", "context.x+context.x"),
            ("  !(x > 2) && In('a.b') ", "!(context.x > 2) && In('a_b')"),
            ("_event.data.x == 'x'", "_event.data.x == 'x'"),
            ("_event.data == 'x'", "dyn(_event.data) == 'x'"),
            ("x === 1 && x !== 2", "context.x == 1 && context.x != 2"),
            ("_event.name == \"x\"", "_event.name == \"x\""),
            ("list.all(y, y > x)", "context.list.all(y, y > context.x)"),
            ("[x, 2][0]", "[context.x, 2][0]"),
            ("In('s1') ? x : 0", "In('s1') ? context.x : 0"),
        ];
        for (source, expected) in cases {
            assert_eq!(scope().translate(source).as_deref(), Ok(expected), "{source}");
        }
    }

    #[test]
    fn what_only_a_script_engine_has_is_refused() {
        let cases = [
            "x ==== 1",
            "x == = 1",
            "'name' in _event",
            "typeof x == 'number'",
            "y == 1",
            "Math.max(1, 2)",
            "function () { return 1 }",
            "x = 1",
            "_event.sendid == 'a'",
            "undefined",
            "parse(x)",
            "'no end",
            "",
        ];
        for source in cases {
            assert!(matches!(scope().translate(source), Err(Refused::NotCel(_))), "{source}");
        }
    }

    #[test]
    fn long_and_deep_expressions_never_reach_the_parser() {
        let deep = format!("{}x{}", "(".repeat(2_000), ")".repeat(2_000));
        let chain = format!("x{}", "+x".repeat(1_900));
        for source in [deep, chain, "!".repeat(300), "x".repeat(5_000)] {
            assert_eq!(scope().translate(&source), Err(Refused::TooBig));
        }
    }

    #[test]
    fn a_literal_is_a_value_and_the_rest_a_template() {
        let cases = [
            ("1", "1"),
            ("'a'", "\"a\""),
            ("\"a\"", "\"a\""),
            ("'${x}'", "\"$${x}\""),
            ("[1, {\"a\": null}]", "[1,{\"a\":null}]"),
            ("context.x + 1", "\"${context.x + 1}\""),
        ];
        for (source, expected) in cases {
            assert_eq!(template(source).to_string(), expected, "{source}");
        }
    }
}
