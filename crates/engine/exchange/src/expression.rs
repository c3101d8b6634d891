//! Expressions of foreign charts: a check that they are CEL, and their translation for a machine file.
//!
//! Many expressions in `cond` and `expr` are equal in ECMAScript and in CEL; `===` and `!==` are CEL's `==` and `!=`.
//! An expression is refused if it does not parse as CEL or uses a name that only a script engine has. Types are left to
//! the reader.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use interlock_chart::{
    Diagnostic, Span,
    expr::{self, Names},
    unresolve::escaped,
};

/// Longer texts are refused without parsing. An expression of a machine file must be shorter anyway.
const SOURCE_BYTES_MAX: usize = 4 * expr::SOURCE_CHARS_MAX;
/// The code of an expression that is too long or too deep.
const TOO_LARGE: &str = "E0302";
/// Macros whose first argument declares a variable.
const BINDERS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

/// The reason why an expression cannot be imported.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The expression exceeds the maximum length or depth.
    TooBig,
    /// The expression is not CEL, or uses something that only a script engine has.
    NotCel(String),
}

/// The names that an expression can use.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Variables of the context, which foreign charts name without `context.`.
    pub(super) variables: BTreeSet<String>,
    /// The states' names in the machine file, by their foreign id.
    pub(super) states: BTreeMap<String, String>,
    /// The names of all states in the machine file.
    pub(super) names: Vec<String>,
}

impl Scope {
    /// Returns the expression as a machine file writes it.
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

    /// Puts `context.` before the foreign chart's variables and replaces the states' names in `In('…')`.
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
                // The third character of `===` or `!==` is dropped, because CEL has only `==` and `!=`.
            } else if is_whole_data(tokens, at) {
                // Foreign events may carry any value, not only maps.
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

/// Returns a value for a machine file: a literal unchanged, anything else in `${…}`. `expression` is already
/// translated.
pub(super) fn template(expression: &str) -> Json {
    match literal(expression) {
        Some(value) => escaped(value),
        None => Json::String(format!("${{{expression}}}")),
    }
}

/// Returns the value of an expression that consists of one literal.
pub(super) fn literal(expression: &str) -> Option<Json> {
    let text = expression.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.contains(['\'', '\\'])).then(|| Json::String(inner.to_owned()))
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or keyword.
    Word,
    /// A number literal.
    Number,
    /// A string with its quotes.
    Text,
    /// A single punctuation character.
    Mark,
}

/// A token of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// The offset of its first byte.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

/// Returns the tokens of an expression, or `None` if a string is unterminated.
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

/// Returns the kind and length of the token at the start of `rest`; whitespace has no kind. Returns `None` for an
/// unterminated string.
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

/// Returns the length of the string at the start of `rest`, including quotes, or `None` if it is unterminated.
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

/// Returns the operands of a sum at the outermost level, or `None` if the expression is not a sum.
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

/// Returns the variables that macros such as `list.all(x, x > 1)` declare.
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

/// Returns true if this is the last `=` of a `===` or `!==`.
fn is_third_mark(tokens: &[Token<'_>], at: usize) -> bool {
    let mark = |back: usize| at.checked_sub(back).map(|at| (tokens[at].text, tokens[at].start));
    let here = tokens[at].start;
    tokens[at].text == "="
        && mark(1) == Some(("=", here.wrapping_sub(1)))
        && [Some(("=", here.wrapping_sub(2))), Some(("!", here.wrapping_sub(2)))].contains(&mark(2))
        && mark(3) != Some(("=", here.wrapping_sub(3)))
}

/// Returns true if this is the `data` of an `_event.data` that is used as a whole and written without spaces.
fn is_whole_data(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(from) = at.checked_sub(2) else { return false };
    let [event, dot, data] = [tokens[from], tokens[from + 1], tokens[at]];
    let joined = event.start + "_event.data".len() == data.start + data.text.len();
    let is_part = tokens.get(at + 1).is_some_and(|next| matches!(next.text, "." | "["));
    event.text == "_event" && dot.text == "." && data.text == "data" && joined && !is_part
}

/// Returns true if `_event` occurs without `.name` or `.data`.
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
    fn expressions_that_need_a_script_engine_are_refused() {
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
    fn literals_become_values_and_the_rest_templates() {
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
