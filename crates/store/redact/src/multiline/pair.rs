//! Pairs of a name and a value on two lines: `name: DB_PASSWORD`, `value: …`, as YAML or JSON, in both orders.

use super::{Line, Named, Then, blank, classify, judge};
use crate::{names::Secret, value::Style};

/// How many lines after its name a value is looked for: there may be a `type` between them.
const LINES_MAX: usize = 3;

/// Keys under which the name of a value stands.
const NAME_KEYS: [&[u8]; 2] = [b"name", b"key"];

/// The key under which a value stands.
const VALUE_KEY: &[u8] = b"value";

/// A line with one field of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    is_name: bool,
    /// The column of the key: both fields of a pair have the same.
    column: usize,
    /// True if the line begins an entry: `- name: …`, `{ "name": …`.
    begins_entry: bool,
    start: usize,
    end: usize,
    style: Style,
}

impl Field {
    /// True if this is the value of a pair.
    pub(super) fn is_value(&self) -> bool {
        !self.is_name
    }

    fn named(&self, text: &[u8]) -> Option<Named> {
        let name = &text[self.start..self.end];
        classify(name).filter(|_| self.is_name && !name.contains(&b' '))
    }
}

/// Reads a line that consists of one field of a pair.
pub(super) fn field(line: Line<'_>) -> Option<Field> {
    let text = &line.text[..line.end];
    let start = line.text_start();
    let entry = match text[start..] {
        [b'-' | b'{', b' ' | b'\t', ..] => 1 + blank(&text[start + 1..]),
        _ => 0,
    };
    let key = start + entry;
    let quote = text.get(key).filter(|byte| b"\"'".contains(byte));
    let word = key + usize::from(quote.is_some());
    let word_end = word + text[word..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_key = |name: &&[u8]| text[word..word_end].eq_ignore_ascii_case(name);
    let is_name = NAME_KEYS.iter().any(is_key);
    if !is_name && !is_key(&VALUE_KEY) {
        return None;
    }
    let after = word_end + usize::from(quote.is_some_and(|quote| text.get(word_end) == Some(quote)));
    let sign = after + blank(&text[after..]);
    let value = sign + 1 + blank(text.get(sign + 1..)?);
    let (start, end, style) = scalar(text, value).filter(|_| matches!(text[sign], b':' | b'='))?;
    Some(Field { is_name, column: key - line.start, begins_entry: entry > 0, start, end, style })
}

/// Returns the start and end of the scalar that ends the line. After closing quotes, only a comma or the end of the entry
/// may follow.
fn scalar(text: &[u8], at: usize) -> Option<(usize, usize, Style)> {
    let quote = *text.get(at)?;
    if b"\"'".contains(&quote) {
        let end = at + 1 + text[at + 1..].iter().position(|byte| *byte == quote)?;
        let is_last = text[end + 1..].iter().all(|byte| b",} \t".contains(byte));
        return is_last.then_some((at + 1, end, Style::Quoted));
    }
    let comment = text[at..].windows(2).position(|pair| pair == b" #").map_or(text.len(), |found| at + found);
    let value = text[at..comment].trim_ascii_end();
    let value = value.strip_suffix(b",").unwrap_or(value);
    Some((at, at + value.len(), Style::Bare))
}

/// A pair whose name is known and whose value has not come yet.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    named: Named,
    column: usize,
    lines_left: usize,
}

/// The pair that a line with the name of a secret opens.
pub(super) fn opens(line: Line<'_>, field: Field) -> Option<Pair> {
    let named = field.named(line.text)?;
    Some(Pair { named, column: field.column, lines_left: LINES_MAX })
}

impl Pair {
    /// Judges a line after the name. Another name, another entry or the end of the entry ends the pair.
    pub(super) fn line(&mut self, line: Line<'_>, field: Option<Field>, secrets: &mut Vec<Secret>) -> Then {
        self.lines_left -= 1;
        let start = line.text_start();
        let is_other = matches!(line.text[start], b'{' | b'}' | b'[' | b']') || line.text[start..].starts_with(b"- ");
        match field {
            Some(field) if field.is_value() && field.column == self.column && !field.begins_entry => {
                secrets.extend(judge(line.text, field.start, field.end, field.style, self.named));
                Then::Ended
            }
            Some(_) => Then::Passed,
            None if is_other || self.lines_left == 0 => Then::Passed,
            None => Then::Stays,
        }
    }
}

/// The secret in a value on the line directly before its name.
pub(super) fn reversed(text: &[u8], value: Field, name: Field) -> Option<Secret> {
    let named = name.named(text)?;
    let between = &text[value.end..name.start];
    let line_ends = between.iter().filter(|byte| **byte == b'\n').count();
    let is_pair = value.column == name.column && !name.begins_entry && line_ends <= 1;
    is_pair.then(|| judge(text, value.start, value.end, value.style, named)).flatten()
}
