//! YAML block scalars: `password: |` or `password: >-`, and the indented lines below.

use super::{Line, Named, Then, blank, classify, judge};
use crate::{names::Secret, value::Style};

/// The maximum number of lines of a block scalar with a secret.
const LINES_MAX: usize = 64;

/// How many signs can follow `|` or `>`: one for the indentation, one for the line end.
const INDICATORS_MAX: usize = 2;

/// A block scalar that has been opened.
#[derive(Clone, Debug)]
pub(super) struct Block {
    named: Named,
    /// The column of the key. Lines that are indented further belong to the scalar.
    column: usize,
    lines_left: usize,
}

/// The block scalar that a line opens under the name of a secret.
pub(super) fn opens(line: Line<'_>) -> Option<Block> {
    let start = line.text_start();
    let text = &line.text[start..line.end];
    let item = text.strip_prefix(b"-").map_or(0, blank);
    let key = if item > 0 { item + 1 } else { 0 };
    let colon = text.iter().rposition(|byte| *byte == b':').filter(|colon| *colon >= key)?;
    let name = text[key..colon].trim_ascii();
    let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name);
    let named = classify(name).filter(|_| is_block_sign(&text[colon + 1..]) && !name.contains(&b' '))?;
    Some(Block { named, column: line.indent() + key, lines_left: LINES_MAX })
}

/// Whether ` |`, ` >-`, ` |2+` or the like is all that stands here, apart from a comment.
fn is_block_sign(rest: &[u8]) -> bool {
    let sign = rest.split(|byte| *byte == b'#').next().unwrap_or(rest).trim_ascii();
    let is_indicator = |byte: &u8| b"+-".contains(byte) || byte.is_ascii_digit();
    match sign {
        [b'|' | b'>', indicators @ ..] => indicators.len() <= INDICATORS_MAX && indicators.iter().all(is_indicator),
        _ => false,
    }
}

impl Block {
    /// Judges a line of the scalar. If its first line is prose, so is the rest; a private key is found by its own form.
    pub(super) fn line(&mut self, line: Line<'_>, secrets: &mut Vec<Secret>) -> Then {
        let start = line.text_start();
        let text = line.text[start..line.end].trim_ascii_end();
        if line.indent() <= self.column {
            return Then::Passed;
        }
        let is_first = self.lines_left == LINES_MAX;
        if text.starts_with(b"-----") || (is_first && text.contains(&b' ')) {
            return Then::Ended;
        }
        if !is_assignment(text) {
            secrets.extend(judge(line.text, start, line.end, Style::Given, self.named));
        }
        self.lines_left -= 1;
        if self.lines_left == 0 { Then::Ended } else { Then::Stays }
    }
}

/// `NAME=…`: judged by its own name.
fn is_assignment(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_').count();
    name > 0 && text.get(name) == Some(&b'=') && text.get(name + 1).is_some_and(|byte| *byte != b'=')
}
