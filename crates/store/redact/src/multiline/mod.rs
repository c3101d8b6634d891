//! Secrets whose name and value are on different lines: XML elements, YAML block scalars, pairs of `name` and `value`, and tables with a header.
//!
//! The scanner reads line by line. Between lines it keeps only what the lines so far say about the next ones, and for a bounded number of lines, so
//! a stream can be cut at any line end. One form needs a look ahead: a `value` line whose `name` follows. `hold_back` tells the stream to keep such a
//! line until the next one has arrived.

mod block;
mod element;
mod pair;
mod table;

use crate::{
    hints::{Hints, MARK},
    names::{self, Secret},
    value::Style,
    words::{self, Class, NAME_BYTES_MAX},
};
use block::Block;
pub(crate) use element::is_form_tag;
use pair::{Field, Pair};
use table::Table;

/// A line end has at most these bytes: `\r\n`.
const LINE_END_BYTES_MAX: usize = 2;

/// The name of a secret, classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    class: Class,
    kind: &'static str,
}

/// A structure that was opened on an earlier line.
#[derive(Clone, Debug)]
enum Open {
    Element(element::Element),
    Block(Block),
    Pair(Pair),
    Table(Table),
}

/// The state of an open structure after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// It does.
    Stays,
    /// It ended with this line.
    Ended,
    /// It ended before this line, which may open another one.
    Passed,
}

/// Finds values by a name on another line. Its state is what a stream keeps between two pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner(Option<Open>);

impl Scanner {
    /// Marks the values in `text`, which begins at the start of a line. Returns nothing if there are none.
    pub(crate) fn scan(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        if self.0.is_none() && !Hints::all().any(text) {
            return None;
        }
        let (mut secrets, mut value_before) = (Vec::new(), None);
        for (start, end) in lines(text) {
            let line = Line { text, start, end };
            let field = pair::field(line);
            match self.inside(line, field, &mut secrets) {
                Then::Stays | Then::Ended => value_before = None,
                Then::Passed => {
                    let found = field.and_then(|name| pair::reversed(text, value_before?, name));
                    let is_reversed = found.is_some();
                    secrets.extend(found);
                    self.0 = if is_reversed { None } else { open(line, field) };
                    value_before = field.filter(|field| field.is_value());
                }
            }
        }
        marked(text, &secrets)
    }

    /// Judges a line by the structure that is open.
    fn inside(&mut self, line: Line<'_>, field: Option<Field>, secrets: &mut Vec<Secret>) -> Then {
        let then = match &mut self.0 {
            None => Then::Passed,
            Some(Open::Element(element)) => element.line(line, secrets),
            Some(Open::Block(block)) => block.line(line, secrets),
            Some(Open::Pair(pair)) => pair.line(line, field, secrets),
            Some(Open::Table(table)) => table.line(line, secrets),
        };
        if then != Then::Stays {
            self.0 = None;
        }
        then
    }
}

/// The structure that a line opens.
fn open(line: Line<'_>, field: Option<Field>) -> Option<Open> {
    if !Hints::all().any(line.content()) {
        return None;
    }
    let element = || element::opens(line).map(Open::Element);
    let block = || block::opens(line).map(Open::Block);
    let pair = || pair::opens(line, field?).map(Open::Pair);
    let table = || table::opens(line).map(Open::Table);
    element().or_else(block).or_else(pair).or_else(table)
}

/// How much of `text`, which ends with a line end, a stream can let go: all of it, or all but a last line with a value whose name may follow.
pub(crate) fn hold_back(text: &[u8]) -> usize {
    let ending = text.iter().rev().take(LINE_END_BYTES_MAX).take_while(|byte| is_line_end(**byte)).count();
    let end = text.len() - ending;
    let start = text[..end].iter().rposition(|byte| is_line_end(*byte)).map_or(0, |at| at + 1);
    match pair::field(Line { text, start, end }) {
        Some(field) if field.is_value() => start,
        _ => text.len(),
    }
}

/// A line of a text, without its end.
#[derive(Clone, Copy, Debug)]
struct Line<'t> {
    text: &'t [u8],
    start: usize,
    end: usize,
}

impl<'t> Line<'t> {
    fn content(self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }

    /// The beginning of the line's text. The sign of an added line in a patch counts as a blank.
    fn text_start(self) -> usize {
        let is_added = self.content().first() == Some(&b'+');
        let from = self.start + usize::from(is_added);
        from + blank(&self.text[from..self.end])
    }

    /// The indentation of the line's text.
    fn indent(self) -> usize {
        self.text_start() - self.start
    }
}

/// The lines of a text that are not blank. Both `\n` and `\r` end a line.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut from = 0;
    let ranges = text.split(|byte| is_line_end(*byte)).map(move |line| {
        let start = from;
        from += line.len() + 1;
        (start, start + line.len())
    });
    ranges.filter(|(start, end)| !text[*start..*end].trim_ascii().is_empty())
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn blank(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Classifies a name. A signature is a secret only in a URL, which is on one line.
fn classify(name: &[u8]) -> Option<Named> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte);
    if name.len() > NAME_BYTES_MAX || !name.iter().all(is_name) {
        return None;
    }
    let (class, kind) = words::classify(name)?;
    (kind != "signature").then_some(Named { class, kind })
}

/// The secret in `text[start..end]` if its name is `named`. Several words are prose, unless they are quoted and have a digit.
fn judge(text: &[u8], start: usize, end: usize, style: Style, named: Named) -> Option<Secret> {
    let start = start + blank(&text[start..end]);
    let value = text[start..end].trim_ascii_end();
    let is_prose = value.contains(&b' ') && !(style == Style::Quoted && value.iter().any(u8::is_ascii_digit));
    match named.class {
        Class::Password | Class::Token if is_prose => None,
        Class::Password | Class::Token | Class::Authorization | Class::Cookie | Class::Basic => {
            names::of_value(text, start, start + value.len(), style, (named.class, named.kind))
        }
    }
}

/// The text with a mark in the place of each secret.
fn marked(text: &[u8], secrets: &[Secret]) -> Option<Vec<u8>> {
    let mut secrets: Vec<_> = secrets.iter().filter(|(start, end, _)| end > start).collect();
    secrets.sort();
    let (mut out, mut copied) = (Vec::with_capacity(text.len()), 0);
    for (start, end, kind) in &secrets {
        out.extend(&text[copied..*start]);
        out.extend(format!("{MARK}{kind}]").as_bytes());
        copied = *end;
    }
    out.extend(&text[copied..]);
    (!secrets.is_empty()).then_some(out)
}
