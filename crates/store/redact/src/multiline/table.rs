//! Tables as comma-separated values: a header with the name of a secret, and its column below.

use super::{Line, Named, Then, blank, classify, judge};
use crate::{names::Secret, value::Style};

/// The maximum number of rows of a table that are examined.
const ROWS_MAX: usize = 10_000;

/// The maximum number of columns of a table.
const COLUMNS_MAX: usize = 256;

/// The longest name of a column.
const HEADER_BYTES_MAX: usize = 64;

/// Signs between columns, the surest first.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// A table whose header has been read.
#[derive(Clone, Debug)]
pub(super) struct Table {
    separator: u8,
    columns: usize,
    secret: Vec<(usize, Named, Numbers)>,
    rows_left: usize,
}

/// Returns true if a number in a column can be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Secret,
    /// The column is called `…pass`, which may count passed tests.
    Counted,
}

/// The table that a header opens: at least two names, at the start of the line, one of them that of a secret.
pub(super) fn opens(line: Line<'_>) -> Option<Table> {
    let is_added = line.content().first() == Some(&b'+');
    if line.indent() > usize::from(is_added) {
        return None;
    }
    let separator = SEPARATORS.into_iter().find(|separator| line.content().contains(separator))?;
    let fields = fields(line, separator)?;
    let names: Vec<&[u8]> = fields.iter().map(|(start, end)| line.text[*start..*end].trim_ascii()).collect();
    // In `user, password` names have one word each: more of them are a sentence.
    let is_tight = !line.content().windows(2).any(|pair| pair == [separator, b' ']);
    let is_name = |name: &&[u8]| is_column_name(name) && (is_tight || !name.contains(&b' '));
    if names.len() < 2 || !names.iter().all(is_name) {
        return None;
    }
    let numbers = |name: &[u8]| if name.ends_with(b"pass") { Numbers::Counted } else { Numbers::Secret };
    let named = names.iter().enumerate().filter_map(|(at, name)| Some((at, classify(name)?, numbers(name))));
    let secret: Vec<_> = named.collect();
    let columns = names.len();
    (!secret.is_empty()).then_some(Table { separator, columns, secret, rows_left: ROWS_MAX })
}

/// One word or two: `password`, `user name`.
fn is_column_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte);
    let is_start = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let blanks = name.iter().filter(|byte| **byte == b' ').count();
    is_start && name.len() <= HEADER_BYTES_MAX && name.iter().all(is_part) && blanks <= 1
}

/// Returns the start and end of each field of a row, without quotes.
fn fields(line: Line<'_>, separator: u8) -> Option<Vec<(usize, usize)>> {
    let is_added = line.content().first() == Some(&b'+');
    let (text, mut fields, mut at) = (&line.text[..line.end], Vec::new(), line.start + usize::from(is_added));
    loop {
        if fields.len() == COLUMNS_MAX {
            return None;
        }
        let start = at + if separator == b'\t' { 0 } else { blank(&text[at..]) };
        let is_quoted = text.get(start) == Some(&b'"');
        let (start, end, next) = if is_quoted { quoted(text, start + 1)? } else { bare(text, start, separator) };
        fields.push((start, end));
        match text.get(next) {
            Some(byte) if *byte == separator => at = next + 1,
            Some(_) => return None,
            None => return Some(fields),
        }
    }
}

fn bare(text: &[u8], start: usize, separator: u8) -> (usize, usize, usize) {
    let end = text[start..].iter().position(|byte| *byte == separator).map_or(text.len(), |found| start + found);
    (start, end, end)
}

/// A quoted field, in which two quotes stand for one.
fn quoted(text: &[u8], start: usize) -> Option<(usize, usize, usize)> {
    let mut end = start;
    loop {
        end += text[end..].iter().position(|byte| *byte == b'"')?;
        match text.get(end + 1) {
            Some(b'"') => end += 2,
            _ => return Some((start, end, end + 1 + blank(&text[end + 1..]))),
        }
    }
}

impl Table {
    /// Judges the fields of a row. A line with another number of fields ends the table.
    pub(super) fn line(&mut self, line: Line<'_>, secrets: &mut Vec<Secret>) -> Then {
        let Some(fields) = fields(line, self.separator).filter(|fields| fields.len() == self.columns) else {
            return Then::Passed;
        };
        for (column, named, numbers) in &self.secret {
            let (start, end) = fields[*column];
            let is_number = line.text[start..end].iter().all(|byte| byte.is_ascii_digit() || b". ".contains(byte));
            if !(is_number && *numbers == Numbers::Counted) {
                secrets.extend(judge(line.text, start, end, Style::Given, *named));
            }
        }
        self.rows_left -= 1;
        if self.rows_left == 0 { Then::Ended } else { Then::Stays }
    }
}
