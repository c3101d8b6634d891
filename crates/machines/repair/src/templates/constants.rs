//! Constants: numbers and their neighbours in the same notation, names for names and names for numbers.

use super::{At, Proposal};
use crate::template::Template::{Index, NamedConstant, Number};

/// The maximum number of named constants that are tried for one place.
const NAMES_MAX: usize = 16;

/// A number literal: its value, its base, and its suffix.
struct Written<'a> {
    value: u64,
    hex: bool,
    digits: usize,
    suffix: &'a str,
}

fn written(text: &str) -> Option<Written<'_>> {
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let body = if hex { &text[2..] } else { text };
    let end = body.find(|c: char| if hex { !c.is_ascii_hexdigit() } else { !c.is_ascii_digit() }).unwrap_or(body.len());
    let (digits, suffix) = body.split_at(end);
    if !suffix.chars().all(|c| matches!(c, 'u' | 'U' | 'l' | 'L')) {
        return None;
    }
    let value = u64::from_str_radix(digits, if hex { 16 } else { 10 }).ok()?;
    Some(Written { value, hex, digits: digits.len(), suffix })
}

impl Written<'_> {
    fn with(&self, value: u64) -> String {
        if self.hex {
            format!("0x{value:0width$x}{}", self.suffix, width = self.digits)
        } else {
            format!("{value}{}", self.suffix)
        }
    }
}

/// Proposes another number: a neighbour, half, double, a number of the function, or the expected value of the failed
/// check.
pub(crate) fn number(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "number_literal" || at.source.above(at.node, "preproc_if").is_some() {
        return;
    }
    let Some(number) = written(at.text()) else { return };
    let template = if &*at.source.node(at.node).field == "index" { Index } else { Number };
    let others = if number.hex { hexadecimal(&number) } else { decimal(at, &number) };
    for (value, weight) in others.into_iter().filter(|(value, _)| *value != number.value) {
        at.instead(into, template, weight, at.node, number.with(value));
    }
    for (expected, actual) in &at.hints.differences {
        if u64::try_from(*actual) == Ok(number.value) && *expected >= 0 {
            at.instead(into, Number, 1.2, at.node, number.with(expected.unsigned_abs()));
        }
    }
    siblings(at, into);
    names_for_number(at, into);
}

fn decimal(at: &At<'_>, number: &Written<'_>) -> Vec<(u64, f64)> {
    let value = number.value;
    let mut others = vec![(value.wrapping_add(1), 0.9), (value.saturating_sub(1), 0.9)];
    if value > 1 {
        others.extend([(value.saturating_mul(2), 0.4), (value / 2, 0.4)]);
        others.extend([(value.saturating_mul(10), 0.2), (value / 10, 0.2), (0, 0.2)]);
    }
    let parent = at.source.parent(at.node);
    let operator = at.source.child(parent, "operator").map(|node| at.source.text(node)).unwrap_or_default();
    if operator.starts_with("<<") || operator.starts_with(">>") {
        others.extend([0, 1, 4, 8, 16, 24].map(|shift| (shift, 0.6)));
    }
    others
}

/// Returns masks and bits: neighbours, one bit or one digit to either side, all ones of the next width, the lowest bits
/// inverted.
fn hexadecimal(number: &Written<'_>) -> Vec<(u64, f64)> {
    let value = number.value;
    let mut others = vec![
        (value << 1, 0.6),
        (value >> 1, 0.6),
        (value << 4, 0.5),
        (value >> 4, 0.5),
        (value << 8, 0.5),
        (value >> 8, 0.5),
    ];
    others.extend([(value.wrapping_add(1), 0.5), (value.wrapping_sub(1), 0.5), (0, 0.3)]);
    others.extend((0..8).map(|bit| (value ^ (1 << bit), 0.2)));
    if value.count_ones() > 1 && (value.wrapping_add(1)).is_power_of_two() {
        others.extend([0xf, 0x3f, 0x7f, 0xff, 0xfff, 0xffff, 0xffff_ffff].map(|ones| (ones, 0.5)));
    }
    others
}

/// Proposes the function's other numbers.
fn siblings(at: &At<'_>, into: &mut Vec<Proposal>) {
    let Some(function) = at.source.function(at.node) else { return };
    for other in at.ingredients.numbers.get(&function).into_iter().flatten().filter(|other| *other != at.text()) {
        at.instead(into, Number, 0.4, at.node, other.clone());
    }
}

fn names_for_number(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !at.in_function() {
        return;
    }
    let near = at.source.function(at.node).and_then(|function| at.ingredients.constants.get(&function));
    let mut names: Vec<(&String, f64)> = Vec::new();
    for (name, constant) in at.symbols.constants_of(&at.source.path).filter(|(_, one)| one.of.is_empty()) {
        let here = near.is_some_and(|near| near.contains(name));
        let weight = match (at.hints.names(name), here || constant.path == at.source.path, related(at, &constant.path))
        {
            (true, _, _) => 0.7,
            (_, true, _) => 0.4,
            (_, _, true) => 0.6,
            _ => continue,
        };
        names.push((name, weight * at.consistency(name)));
    }
    names.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    for (name, weight) in names.into_iter().take(NAMES_MAX) {
        at.instead(into, NamedConstant, weight, at.node, name.clone());
    }
}

/// Returns true if a header belongs to this file: the same name with another extension.
fn related(at: &At<'_>, path: &str) -> bool {
    let stem = |path: &str| path.rsplit_once('.').map_or(path.to_owned(), |(stem, _)| stem.to_owned());
    stem(path) == stem(&at.source.path)
}

/// Proposes another constant: of the same enumeration, or with a similar name.
pub(crate) fn named(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "identifier" || !at.in_function() {
        return;
    }
    let Some(this) = at.symbols.constants.get(at.text()) else { return };
    let mut others: Vec<(&String, f64)> = Vec::new();
    for (name, other) in at.symbols.constants_of(&at.source.path).filter(|(name, _)| *name != at.text()) {
        if this.of.is_empty() != other.of.is_empty() || this.of != other.of {
            continue;
        }
        if at.is_beside(name) {
            continue;
        }
        let same_enumeration = !this.of.is_empty();
        let near = other.path == this.path || other.path == at.source.path || at.hints.names(name);
        let likeness = similarity(at.text(), name);
        let weight = if same_enumeration { 0.9 } else { 0.25 + 0.75 * likeness };
        let weight = if near { weight } else { weight * 0.5 };
        others.push((name, weight * at.consistency(name)));
    }
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    for (name, weight) in others.into_iter().take(NAMES_MAX) {
        at.instead(into, NamedConstant, weight, at.node, name.clone());
    }
}

/// Returns the share of words that two names have in common: `RX_ROOM` and `TX_ROOM` share one of two.
fn similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split('_').collect(), b.split('_').collect());
    let common = a.iter().filter(|word| b.contains(word)).count();
    common as f64 / a.len().max(b.len()) as f64
}
