//! Finds constants of the failing test that are new in the code: such a patch may fit only the test's data.
//!
//! Numbers are compared by value and characters by their code, so that another notation hides nothing. 0 and 1 occur in
//! all code and are ignored. The comparison is per function if the grammar finds functions, otherwise per file.

use std::collections::{BTreeMap, BTreeSet};

use super::hardware::function_name;
use super::{Change, Doubt, DoubtKind, FailingTests, is_c};
use crate::source::{Source, parser};

/// Numbers that occur in all code.
const TRIVIAL: [i128; 2] = [0, 1];

/// The minimum length of a text whose length is compared with numbers.
const LENGTH_MIN: usize = 2;

/// A constant in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Literal {
    Number(i128),
    /// A number that is written as a character.
    Letter(char),
    /// Digits with a point or an exponent, as they are written.
    Decimal(String),
    Text(String),
}

impl std::fmt::Display for Literal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Literal::Number(number) => write!(out, "{number}"),
            Literal::Letter(letter) => write!(out, "'{}'", letter.escape_default()),
            Literal::Decimal(text) => out.write_str(text),
            Literal::Text(text) => write!(out, "\"{}\"", text.escape_default()),
        }
    }
}

/// The constants of the failing tests.
#[derive(Default)]
struct TestConstants {
    numbers: BTreeSet<i128>,
    decimals: BTreeSet<String>,
    texts: BTreeSet<String>,
}

impl TestConstants {
    fn of(tests: &FailingTests) -> TestConstants {
        let mut known = TestConstants::default();
        for text in tests.sources.values().chain(&tests.inputs) {
            for (literal, _) in literals(text) {
                match literal {
                    Literal::Number(number) => drop(known.numbers.insert(number)),
                    Literal::Letter(letter) => drop(known.numbers.insert(i128::from(letter as u32))),
                    Literal::Decimal(decimal) => drop(known.decimals.insert(decimal)),
                    Literal::Text(text) => drop(known.texts.insert(text)),
                }
            }
        }
        let inputs = tests.inputs.iter().flat_map(|input| input.split_whitespace());
        known.texts.extend(inputs.map(str::to_owned));
        known
    }

    fn has(&self, literal: &Literal) -> bool {
        match literal {
            Literal::Number(number) if TRIVIAL.contains(number) => false,
            Literal::Number(number) => self.numbers.contains(number) || self.is_length(*number),
            Literal::Letter(letter) => {
                let is_code = self.numbers.contains(&i128::from(*letter as u32))
                    && !TRIVIAL.contains(&i128::from(*letter as u32));
                is_code || self.texts.iter().any(|text| text.contains(*letter))
            }
            Literal::Decimal(decimal) => self.decimals.contains(decimal),
            Literal::Text(text) => {
                let is_part = |other: &String| {
                    !text.is_empty()
                        && !other.is_empty()
                        && (other.contains(text.as_str()) || text.contains(other.as_str()) && other.len() >= LENGTH_MIN)
                };
                self.texts.iter().any(is_part)
            }
        }
    }

    fn is_length(&self, number: i128) -> bool {
        self.texts.iter().any(|text| text.len() >= LENGTH_MIN && text.len() as i128 == number)
    }
}

/// Returns the constants of the failing tests that changes introduce to the code.
pub(super) fn repeated(changes: &[&Change], tests: &FailingTests) -> Vec<Doubt> {
    let known = TestConstants::of(tests);
    changes.iter().flat_map(|change| in_file(change, &known)).collect()
}

fn in_file(change: &Change, known: &TestConstants) -> Vec<Doubt> {
    let (before, after) = (scopes(&change.path, &change.before), scopes(&change.path, &change.after));
    let mut found: BTreeMap<Literal, usize> = BTreeMap::new();
    for (name, new) in after {
        let old = before.get(&name);
        let is_new = |literal: &Literal| old.is_none_or(|old| !old.iter().any(|(other, _)| is_same(other, literal)));
        for (literal, line) in new.into_iter().filter(|(literal, _)| is_new(literal) && known.has(literal)) {
            found.entry(literal).or_insert(line);
        }
    }
    let doubt = |(literal, line): (Literal, usize)| Doubt {
        kind: DoubtKind::TestConstant,
        path: change.path.clone(),
        line,
        why: format!("{literal} is new in the code and is data of the failing test"),
    };
    found.into_iter().map(doubt).collect()
}

/// Returns true if two constants have the same value in any notation.
fn is_same(one: &Literal, other: &Literal) -> bool {
    let value = |literal: &Literal| match literal {
        Literal::Number(number) => Some(*number),
        Literal::Letter(letter) => Some(i128::from(*letter as u32)),
        _ => None,
    };
    one == other || value(one).is_some() && value(one) == value(other)
}

/// Returns the constants of each function. Constants outside functions have an empty name.
fn scopes(path: &str, text: &str) -> BTreeMap<String, Vec<(Literal, usize)>> {
    let mut scopes: BTreeMap<String, Vec<(Literal, usize)>> = BTreeMap::new();
    let functions = if is_c(path) { functions(path, text) } else { Vec::new() };
    for (literal, line) in literals(text) {
        let around = functions.iter().find(|(_, from, until)| (*from..=*until).contains(&line));
        let name = around.map(|(name, ..)| name.clone()).unwrap_or_default();
        scopes.entry(name).or_default().push((literal, line));
    }
    scopes
}

/// Returns the functions of a C file: name, first line, last line.
fn functions(path: &str, text: &str) -> Vec<(String, usize, usize)> {
    let Some(source) = parser().and_then(|mut parser| Source::read(&mut parser, path, text)) else { return Vec::new() };
    let all = (0..source.nodes.len()).filter(|node| source.kind(*node) == "function_definition");
    let named = all.filter_map(|node| {
        let (name, first) = (function_name(&source, node)?.to_owned(), source.node(node).line);
        Some((name, first, first + source.text(node).matches('\n').count()))
    });
    named.collect()
}

/// Returns the constants of a text with their lines: numbers, characters and quoted texts. Comments of C and of scripts
/// are skipped.
fn literals(text: &str) -> Vec<(Literal, usize)> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied().unwrap_or_default();
        let end = match letter {
            '/' if next == '/' => until(&letters, at, |rest| rest.starts_with(&['\n'])),
            '/' if next == '*' => until(&letters, at + 2, |rest| rest.starts_with(&['*', '/'])) + 2,
            '"' | '\'' => {
                let (literal, end) = quoted(&letters, at, letter);
                found.extend(literal.map(|literal| (literal, line)));
                end
            }
            _ if letter.is_ascii_digit() => {
                let end =
                    until(&letters, at, |rest| !rest[0].is_ascii_alphanumeric() && rest[0] != '.' && rest[0] != '_');
                let word: String = letters[at..end].iter().collect();
                found.extend(number(&word).map(|literal| (literal, line)));
                end
            }
            _ if letter.is_alphabetic() || letter == '_' => {
                until(&letters, at, |rest| !rest[0].is_alphanumeric() && rest[0] != '_')
            }
            _ => at + 1,
        };
        let end = end.clamp(at + 1, letters.len());
        line += letters[at..end].iter().filter(|letter| **letter == '\n').count();
        at = end;
    }
    found
}

fn until(letters: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..letters.len()).find(|at| is_end(&letters[*at..])).unwrap_or(letters.len())
}

/// Returns the text between quotes and its end. A quote that is not closed on its line is ignored.
fn quoted(letters: &[char], from: usize, quote: char) -> (Option<Literal>, usize) {
    let (mut content, mut at) = (String::new(), from + 1);
    while let Some(&letter) = letters.get(at).filter(|letter| **letter != '\n') {
        if letter == quote {
            let mut all = content.chars();
            let literal = match (quote, all.next(), all.next()) {
                ('\'', Some(one), None) => Literal::Letter(one),
                _ => Literal::Text(content),
            };
            return (Some(literal), at + 1);
        }
        let (meant, end) = if letter == '\\' { escaped(letters, at + 1) } else { (letter, at + 1) };
        content.push(meant);
        at = end;
    }
    (None, from + 1)
}

/// Returns the character of an escape sequence and the end of the sequence.
fn escaped(letters: &[char], at: usize) -> (char, usize) {
    let digits = |from: usize, most: usize, base: u32| {
        let all: String =
            letters[from.min(letters.len())..].iter().take(most).take_while(|letter| letter.is_digit(base)).collect();
        let end = from + all.len();
        (u32::from_str_radix(&all, base).ok().and_then(char::from_u32).unwrap_or_default(), end)
    };
    match letters.get(at) {
        Some('n') => ('\n', at + 1),
        Some('r') => ('\r', at + 1),
        Some('t') => ('\t', at + 1),
        Some('x') => digits(at + 1, 2, 16),
        Some('0'..='7') => digits(at, 3, 8),
        Some(other) => (*other, at + 1),
        None => (char::default(), at),
    }
}

fn number(word: &str) -> Option<Literal> {
    let plain: String = word.chars().filter(|letter| *letter != '_').collect::<String>().to_ascii_lowercase();
    let digits = |text: &str, base: u32| {
        let all: String = text.chars().take_while(|letter| letter.is_digit(base)).collect();
        i128::from_str_radix(&all, base).ok().map(Literal::Number)
    };
    if let Some(hex) = plain.strip_prefix("0x") {
        return digits(hex, 16);
    }
    if let Some(binary) = plain.strip_prefix("0b") {
        return digits(binary, 2);
    }
    if plain.contains(['.', 'e']) {
        return Some(Literal::Decimal(plain.trim_end_matches(['f', 'l']).to_owned()));
    }
    let is_octal =
        plain.len() > 1 && plain.starts_with('0') && plain.chars().all(|letter| ('0'..='7').contains(&letter));
    digits(&plain, if is_octal { 8 } else { 10 })
}
