//! Templates: text that contains `${…}`, split into pieces. Expressions are parsed with their positions.

use super::{
    code,
    fields::Decoder,
    node::{Kind, Node, Scalar},
    scalar,
};
use crate::{
    Diagnostic, Value,
    expr::{self, Expr, Names},
    model::{Part, Template},
};
use serde_json::Value as Json;
use std::ops::Range;

/// A piece of a template's text.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// Literal text with escapes resolved.
    Text(String),
    /// The range of the expression in the text, without `${` and `}`.
    Expr(Range<usize>),
}

/// Splits a text into pieces. The error is the offset of a `${` without an end.
pub(crate) fn split(text: &str) -> Result<Vec<Piece>, usize> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('$') {
        let dollar = at + found;
        plain.push_str(&text[at..dollar]);
        let rest = &text[dollar..];
        if rest.starts_with("$${") {
            plain.push_str("${");
            at = dollar + 3;
        } else if rest.starts_with("${") {
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            let end = closing_brace(text, dollar + 2).ok_or(dollar)?;
            pieces.push(Piece::Expr(dollar + 2..end));
            at = end + 1;
        } else {
            plain.push('$');
            at = dollar + 1;
        }
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

/// Returns the `}` that ends an expression begun before `from`. Braces inside the expression are counted, except those
/// in its strings.
fn closing_brace(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            b'\'' | b'"' => at = end_of_string(text, at)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the last byte of the CEL string literal that begins at `from`.
fn end_of_string(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = bytes[from];
    let raw = from > 0 && matches!(bytes[from - 1], b'r' | b'R');
    let triple = bytes.get(from..from + 3).is_some_and(|three| three.iter().all(|&byte| byte == quote));
    let width = if triple { 3 } else { 1 };
    let mut at = from + width;
    while at < bytes.len() {
        if bytes[at] == b'\\' && !raw {
            at += 2;
        } else if bytes[at..].len() >= width && bytes[at..at + width].iter().all(|&byte| byte == quote) {
            return Some(at + width - 1);
        } else {
            at += 1;
        }
    }
    None
}

/// Escapes a text so that it contains no expression.
pub(crate) fn escape(text: &str) -> String {
    text.replace("${", "$${")
}

/// Parses expressions and templates, with the names that they may use.
pub(crate) struct Words<'a, 'p> {
    pub names: Names<'a>,
    pub problems: &'p mut Vec<Diagnostic>,
}

impl Words<'_, '_> {
    /// Parses an expression that is a whole scalar.
    pub(crate) fn whole(&mut self, text: &Scalar) -> Option<Expr> {
        self.expr(text, 0..text.text.len())
    }

    /// Parses an expression that is a part of a scalar.
    pub(crate) fn expr(&mut self, text: &Scalar, range: Range<usize>) -> Option<Expr> {
        let written = text.text.get(range.clone())?;
        let start = range.start + (written.len() - written.trim_start().len());
        let source = written.trim();
        let span = text.part(start, start + source.len());
        match expr::parse(source, span, &self.names) {
            Ok(expr) => Some(expr),
            Err(problems) => {
                let place = |problem: Diagnostic| Diagnostic {
                    span: if text.verbatim.is_some() { problem.span } else { text.span },
                    ..problem
                };
                self.problems.extend(problems.into_iter().map(place));
                None
            }
        }
    }

    /// Parses any value and the expressions in it.
    pub(crate) fn template(&mut self, node: &Node) -> Template {
        match &node.kind {
            Kind::Scalar(text) => self.text(text, node),
            Kind::Broken => Template::Literal(Value::Null),
            Kind::List(items) => list(items.iter().map(|item| self.template(item)).collect()),
            Kind::Map(entries) => self.map(entries.iter().map(|entry| (entry.key.text.as_str(), &entry.value))),
        }
    }

    /// Parses a map and the expressions in it.
    pub(crate) fn map<'m>(&mut self, entries: impl Iterator<Item = (&'m str, &'m Node)>) -> Template {
        let fields: Vec<_> = entries.map(|(key, value)| (key.to_owned(), self.template(value))).collect();
        let literal = |(key, value): &(String, Template)| match value {
            Template::Literal(value) => Some((key.clone(), value.clone())),
            _ => None,
        };
        match fields.iter().map(literal).collect::<Option<Vec<_>>>() {
            Some(fields) => Template::Literal(Value::map(fields)),
            None => Template::Map(fields),
        }
    }

    fn text(&mut self, text: &Scalar, node: &Node) -> Template {
        match scalar::typed(text) {
            Some(Json::String(string)) if string.contains("${") => self.pieces(text),
            _ => Template::Literal(Decoder { problems: self.problems }.json(node).into()),
        }
    }

    fn pieces(&mut self, text: &Scalar) -> Template {
        let pieces = match split(&text.text) {
            Ok(pieces) => pieces,
            Err(at) => {
                let problem = Diagnostic::error(code::OPEN_TEMPLATE, text.part(at, at + 2), "`${` is never closed");
                self.problems.push(problem.hint("close it with `}`, or write `$${` for a literal `${`"));
                return Template::Literal(Value::Null);
            }
        };
        let null = Template::Literal(Value::Null);
        match &pieces[..] {
            [Piece::Text(plain)] => Template::text(plain),
            [Piece::Expr(range)] => self.expr(text, range.clone()).map_or(null, Template::Expr),
            _ => Template::Text(pieces.into_iter().filter_map(|piece| self.part(text, piece)).collect()),
        }
    }

    fn part(&mut self, text: &Scalar, piece: Piece) -> Option<Part> {
        match piece {
            Piece::Text(plain) => Some(Part::Text(plain)),
            Piece::Expr(range) => self.expr(text, range).map(Part::Expr),
        }
    }
}

fn list(items: Vec<Template>) -> Template {
    let literal = |item: &Template| match item {
        Template::Literal(value) => Some(value.clone()),
        _ => None,
    };
    match items.iter().map(literal).collect::<Option<Vec<_>>>() {
        Some(values) => Template::Literal(Value::List(values.into())),
        None => Template::List(items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], usize>) {
        let shown = split(text).map(|pieces| {
            let show = |piece| match piece {
                Piece::Text(plain) => format!("'{plain}'"),
                Piece::Expr(range) => text[range].to_owned(),
            };
            pieces.into_iter().map(show).collect::<Vec<_>>()
        });
        assert_eq!(shown, expected.map(|pieces| pieces.iter().map(|piece| (*piece).to_owned()).collect()), "{text}");
    }

    #[test]
    fn text_is_split_at_its_expressions() {
        check("", Ok(&["''"]));
        check("plain $5 {x}", Ok(&["'plain $5 {x}'"]));
        check("${a}", Ok(&["a"]));
        check("a ${b} é ${c}", Ok(&["'a '", "b", "' é '", "c"]));
        check("${ {'k': {'l': 1}} }!", Ok(&[" {'k': {'l': 1}} ", "'!'"]));
        check("${'}' + \"}\\\"}\" + r'\\'}", Ok(&["'}' + \"}\\\"}\" + r'\\'"]));
        check("${'''a'}'''}", Ok(&["'''a'}'''"]));
        check("$${a} and $$${b}", Ok(&["'${a} and $${b}'"]));
        check("a ${b", Err(2));
        check("${'}", Err(0));
        check("${\"\\", Err(0));
    }

    #[test]
    fn escaped_text_is_literal() {
        for text in ["${a}", "$${", "$", "a ${b} $${c}"] {
            assert_eq!(split(&escape(text)), Ok(vec![Piece::Text(text.to_owned())]));
        }
    }
}
