//! The `cel` crate's parsers, and the positions of their nodes in the text.
//!
//! There are two parsers. The quick one is about twenty times faster but does not report positions. It reads each
//! expression first, and an expression without problems is not read again. The other is the crate's reference parser,
//! which also compiles opaque expressions. It reads an expression again if there is a problem, so that the problem gets
//! the right position.
//!
//! Everything that depends on the crate's positions is here. Its nodes carry the position of one token each (a
//! selection's dot, a call's bracket), from which this file computes the range to underline.

use std::ops::Range;

use cel::{
    common::ast::{ComprehensionExpr, EntryExpr, Expr as Cel, IdedEntryExpr, IdedExpr, SourceInfo},
    parser::{Parser, PrattParser},
};

use super::{
    bounds::measure,
    refusal::{refused, too_large},
    tokens::{Kind, tokens},
};
use crate::{Diagnostic, Severity, Span};

/// A parsed expression with its positions.
pub(super) struct Syntax<'a> {
    pub(super) root: IdedExpr,
    pub(super) text: Text<'a>,
    /// The positions of the nodes, or `None` if the quick parser read the text.
    places: Option<SourceInfo>,
}

/// An expression's text and its position in the file.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) source: &'a str,
    pub(super) span: Span,
}

/// Parses `source` quickly, without positions. Returns `None` if there is any problem.
pub(super) fn read_quickly(source: &str, span: Span) -> Option<Syntax<'_>> {
    let text = Text { source, span };
    measure(source).ok()?;
    if !is_plain(source) {
        return None;
    }
    let root = PrattParser::default().parse(source).ok()?;
    Some(Syntax { root, text, places: None })
}

/// Returns true if both parsers read the text in the same way. The quick parser accepts some texts that the reference
/// refuses (`0X1F`, a line break in a string, `!-a`), so everything unusual is left to the reference.
fn is_plain(source: &str) -> bool {
    let mut before = "";
    tokens(source).all(|token| {
        let text = &source[token.range];
        let plain = match token.kind {
            Kind::Blank => text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n')),
            Kind::Word => true,
            Kind::Number => text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !text.starts_with('.'),
            Kind::Text => text.starts_with(['\'', '"']) && !text.contains(['\\', '\n', '\r']),
            Kind::Sign => text.is_ascii() && !matches!((before, text), ("!", "-") | ("-", "!") | (_, "`")),
        };
        before = if token.kind == Kind::Blank { before } else { text };
        plain
    })
}

/// Parses `source` at `span`, with positions.
pub(super) fn read(source: &str, span: Span) -> Result<Syntax<'_>, Vec<Diagnostic>> {
    let text = Text { source, span };
    measure(source).map_err(|excess| vec![too_large(text, excess)])?;
    match Parser::default().parse_with_source_info(source) {
        Ok((root, places)) => Ok(Syntax { root, text, places: Some(places) }),
        Err(failure) => Err(vec![refused(text, &failure.errors)]),
    }
}

/// Creates an error with `code` at `span`.
pub(super) fn error(code: &'static str, span: Span, message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { code, severity: Severity::Error, span, message, hint, related: None }
}

impl Text<'_> {
    /// Returns the position in the file of a range of bytes of the text. If the file writes the text differently
    /// (escapes of a quoted YAML string, for example), it is the position of the whole text.
    pub(super) fn at(&self, range: Range<usize>) -> Span {
        let length = self.span.end.saturating_sub(self.span.start);
        let position = |offset: usize| u32::try_from(offset).ok().map(|offset| self.span.start.saturating_add(offset));
        match (position(range.start), position(range.end)) {
            (Some(start), Some(end)) if usize::try_from(length) == Ok(self.source.len()) => Span { start, end },
            _ => self.span,
        }
    }

    /// Returns the offset after the character that contains the byte `at`.
    pub(super) fn end_of_character(&self, at: usize) -> usize {
        (at + 1..self.source.len()).find(|&end| self.source.is_char_boundary(end)).unwrap_or(self.source.len())
    }

    /// Returns the byte offset of a line and column, both counted from one, columns in characters.
    pub(super) fn offset(&self, (line, column): (isize, isize)) -> usize {
        let line = usize::try_from(line - 1).unwrap_or(0);
        let column = usize::try_from(column - 1).unwrap_or(0);
        let start: usize = self.source.split_inclusive('\n').take(line).map(str::len).sum();
        let rest = self.source.get(start..).unwrap_or("");
        start + rest.char_indices().nth(column).map_or(rest.len(), |(offset, _)| offset)
    }
}

impl Syntax<'_> {
    /// Returns the position in the file of a node and everything below it.
    pub(super) fn span(&self, node: &IdedExpr) -> Span {
        self.text.at(self.range(node))
    }

    /// Returns the position in the file of a selection's field name. For other nodes it is the position of the whole
    /// node.
    pub(super) fn name_span(&self, node: &IdedExpr) -> Span {
        match &node.expr {
            Cel::Select(select) => {
                let operand = self.range(&select.operand);
                self.text.at(self.field_after(operand.end, &select.field))
            }
            _ => self.span(node),
        }
    }

    /// Returns the position in the file of a called function's name: the word before the bracket that the node points
    /// to.
    pub(super) fn function_span(&self, call: &IdedExpr) -> Span {
        let bracket = self.token(call.id).map_or(0, |token| token.start);
        let before = self.text.source.get(..bracket).unwrap_or("").trim_end();
        let length = before.bytes().rev().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        self.text.at(before.len() - length..before.len())
    }

    /// Returns the text of a node and everything below it, as it is written.
    pub(super) fn written(&self, node: &IdedExpr) -> String {
        self.text.source.get(self.range(node)).unwrap_or("").to_owned()
    }

    fn token(&self, id: u64) -> Option<Range<usize>> {
        let (start, last) = self.places.as_ref()?.offset_for(id)?;
        let (start, last) = (usize::try_from(start).ok()?, usize::try_from(last).ok()?);
        (start < self.text.source.len()).then(|| start..self.text.end_of_character(last.max(start)))
    }

    fn range(&self, node: &IdedExpr) -> Range<usize> {
        let mut range = self.token(node.id).unwrap_or(0..self.text.source.len());
        for child in children(node) {
            let below = self.range(child);
            range = range.start.min(below.start)..range.end.max(below.end);
        }
        match &node.expr {
            Cel::Select(select) if select.test => {
                let field = self.field_after(range.end, &select.field);
                self.closed(range.start.min(self.name_start(node, "has"))..field.end, node)
            }
            // The operand ends before the dot, and the dot's own token is part of the range.
            Cel::Select(select) => range.start..self.field_after(range.end, &select.field).end,
            Cel::Call(call) => self.closed(range.start.min(self.name_start(node, &call.func_name))..range.end, node),
            _ => self.closed(range, node),
        }
    }

    /// Returns the offset of a call's name, before the bracket that the node points to. Operators point to themselves.
    fn name_start(&self, node: &IdedExpr, name: &str) -> usize {
        let bracket = self.token(node.id).map_or(0, |token| token.start);
        let before = self.text.source.get(..bracket).unwrap_or("").trim_end();
        before.strip_suffix(name).map_or(bracket, str::len)
    }

    /// Extends the range by the closing bracket that matches the node's opening bracket, if it follows immediately.
    fn closed(&self, range: Range<usize>, node: &IdedExpr) -> Range<usize> {
        let opening = self.token(node.id).and_then(|token| self.text.source.as_bytes().get(token.start).copied());
        let closing = match opening {
            Some(b'(') => ')',
            Some(b'[') => ']',
            Some(b'{') => '}',
            _ => return range,
        };
        let rest = self.text.source.get(range.end..).unwrap_or("");
        let blank = rest.len() - rest.trim_start().len();
        match rest.trim_start().starts_with(closing) {
            true => range.start..range.end + blank + 1,
            false => range,
        }
    }

    fn field_after(&self, from: usize, field: &str) -> Range<usize> {
        let rest = self.text.source.get(from..).unwrap_or("");
        let start = from + rest.find(field).unwrap_or(0);
        start..(start + field.len()).min(self.text.source.len())
    }
}

/// Returns the nodes directly below a node.
fn children(node: &IdedExpr) -> Vec<&IdedExpr> {
    match &node.expr {
        Cel::Unspecified | Cel::Ident(_) | Cel::Literal(_) => Vec::new(),
        Cel::Call(call) => call.target.iter().map(|target| &**target).chain(&call.args).collect(),
        Cel::Comprehension(comprehension) => {
            let ComprehensionExpr { iter_range, accu_init, loop_cond, loop_step, result, .. } = &**comprehension;
            vec![iter_range, accu_init, loop_cond, loop_step, result]
        }
        Cel::List(list) => list.elements.iter().collect(),
        Cel::Map(map) => map.entries.iter().flat_map(entry_children).collect(),
        Cel::Select(select) => vec![&select.operand],
        Cel::Struct(literal) => literal.entries.iter().flat_map(entry_children).collect(),
    }
}

fn entry_children(entry: &IdedEntryExpr) -> Vec<&IdedExpr> {
    match &entry.expr {
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        EntryExpr::StructField(field) => vec![&field.value],
    }
}
