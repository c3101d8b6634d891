//! The same edit at sibling places. Code is copied with its bugs: a change that affects a failure is also tried at every
//! line that reads the same up to its names and shares one of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::candidates::Candidate;
use crate::diff::unified;
use crate::edit::Edit;

/// The most places that one candidate changes.
const PLACES_MAX: usize = 8;

/// Words that say nothing about what a line is about.
const KEYWORDS: [&str; 12] =
    ["if", "else", "for", "while", "return", "int", "unsigned", "const", "static", "char", "sizeof", "case"];

/// A token of a line: its range of bytes.
type Token = (usize, usize);

/// Returns the candidate with the same edit at all sibling places; `None` if there is none. `changeable` are the files
/// that may be changed.
pub(crate) fn siblings(
    files: &BTreeMap<String, String>,
    changeable: &BTreeSet<String>,
    candidate: &Candidate,
) -> Option<Candidate> {
    let [edit] = candidate.edits.get(&candidate.path).filter(|_| candidate.edits.len() == 1)?.as_slice() else {
        return None;
    };
    let (start, line) = line_at(files.get(&candidate.path)?, edit.start)?;
    let (tokens, place) = (tokens(line), (edit.start - start, edit.end.checked_sub(start)?));
    let (first, last) = position(&tokens, place)?;
    let is_named = edit.text.contains(|letter: char| letter.is_alphabetic() || letter == '_');
    let mut edits: BTreeMap<String, Vec<Edit>> = candidate.edits.clone();
    let mut places = 0;
    for (path, text) in files.iter().filter(|(path, _)| changeable.contains(*path)) {
        let mut at = 0;
        for other in text.split_inclusive('\n') {
            let (begin, other) = (at, other.trim_end_matches('\n'));
            at += other.len() + 1;
            let is_self = *path == candidate.path && begin == start;
            // A text with names means the same only on the same line of code.
            let is_sibling = if is_named { other.trim() == line.trim() } else { is_alike(line, other) };
            if is_self || !is_sibling || places + 1 >= PLACES_MAX {
                continue;
            }
            let own = self::tokens(other);
            let (from, to) = (own.get(first)?.0, last.map_or(own.get(first)?.0, |last| own[last].1));
            edits.entry(path.clone()).or_default().push(Edit {
                start: begin + from,
                end: begin + to,
                text: edit.text.clone(),
            });
            places += 1;
        }
    }
    (places > 0).then(|| joined(files, candidate, edits, places)).flatten()
}

fn joined(
    files: &BTreeMap<String, String>,
    of: &Candidate,
    edits: BTreeMap<String, Vec<Edit>>,
    places: usize,
) -> Option<Candidate> {
    let summary = format!("{}, and the same at {places} more place{}", of.summary, if places == 1 { "" } else { "s" });
    let mut all = Candidate { summary, edits, patch: String::new(), ..of.clone() };
    for path in all.edits.keys() {
        let old = files.get(path)?;
        all.patch.push_str(&unified(path, old, &all.apply(path, old)?));
    }
    Some(all)
}

/// Returns the line that contains a byte, and its first byte.
fn line_at(text: &str, byte: usize) -> Option<(usize, &str)> {
    let start = text.get(..byte)?.rfind('\n').map_or(0, |end| end + 1);
    Some((start, text.get(start..)?.lines().next()?))
}

/// Splits a line into words and single signs.
fn tokens(line: &str) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut was_word = false;
    for (at, letter) in line.char_indices() {
        let end = at + letter.len_utf8();
        match all.last_mut() {
            Some(last) if is_word(letter) && was_word && last.1 == at => last.1 = end,
            _ if letter.is_whitespace() => {}
            _ => all.push((at, end)),
        }
        was_word = is_word(letter);
    }
    all
}

/// Returns the first token that an edit replaces and the last; for an insertion, the token before which it inserts.
fn position(tokens: &[Token], (start, end): (usize, usize)) -> Option<(usize, Option<usize>)> {
    let first = tokens.iter().position(|token| token.0 == start)?;
    if start == end {
        return Some((first, None));
    }
    Some((first, Some(tokens.iter().position(|token| token.1 == end)?)))
}

/// Reports whether two lines read the same up to their names, and share a name or a number.
fn is_alike(one: &str, other: &str) -> bool {
    let (a, b) = (tokens(one), tokens(other));
    let is_name = |text: &str| text.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let telling = |text: &str| is_name(text) && !KEYWORDS.contains(&text);
    let mut shared = false;
    let is_same = a.len() == b.len()
        && a.iter().zip(&b).all(|(x, y)| {
            let (x, y) = (&one[x.0..x.1], &other[y.0..y.1]);
            shared |= x == y && telling(x);
            x == y || telling(x) && telling(y)
        });
    is_same && shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    fn of(text: &str, edit: Edit) -> Option<String> {
        let files = BTreeMap::from([("a.c".to_owned(), text.to_owned())]);
        let candidate = Candidate {
            template: Template::Boundary,
            path: "a.c".to_owned(),
            line: 1,
            summary: "a.c:1: boundary".to_owned(),
            before: String::new(),
            after: String::new(),
            patch: String::new(),
            prior: 0.5,
            score: 0.5,
            edits: BTreeMap::from([("a.c".to_owned(), vec![edit])]),
        };
        siblings(&files, &BTreeSet::from(["a.c".to_owned()]), &candidate)?.apply("a.c", text)
    }

    #[test]
    fn the_same_edit_is_made_at_lines_that_differ_in_names() {
        let text = "if (head > LENGTH) {\n  if (tail  > LENGTH) {\nif (a > b) {\nif (head > 3) x();\n";
        let changed = of(text, Edit { start: 9, end: 10, text: ">=".into() });
        assert_eq!(
            changed.as_deref(),
            Some("if (head >= LENGTH) {\n  if (tail  >= LENGTH) {\nif (a > b) {\nif (head > 3) x();\n")
        );
        assert_eq!(
            of("x = head;\ny = tail;\n", Edit { start: 4, end: 8, text: "tail".into() }),
            None,
            "a name means something"
        );
        assert_eq!(of("a > N;\n", Edit { start: 2, end: 3, text: ">=".into() }), None, "there is no other place");
    }
}
