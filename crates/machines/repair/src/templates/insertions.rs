//! Missing statements: those of sibling branches and functions, their opposites, and values that are not stored.

use std::collections::BTreeSet;

use super::ingredients::function_name;
use super::statements::{before, behind};
use super::variables::values;
use super::{At, Proposal};
use crate::declared::is_number;
use crate::hints::words;
use crate::source::Source;
use crate::template::Template::MissingStatement;

/// The maximum number of statements that are tried at one place.
const INSERTED_MAX: usize = 40;

/// Returns true for statements beside which another may be missing.
fn is_place(at: &At<'_>) -> bool {
    let statement = matches!(
        at.kind(),
        "expression_statement"
            | "declaration"
            | "return_statement"
            | "if_statement"
            | "for_statement"
            | "while_statement"
    );
    statement && matches!(at.source.kind(at.source.parent(at.node)), "compound_statement" | "case_statement")
}

fn put(at: &At<'_>, into: &mut Vec<Proposal>, weight: f64, text: &str) {
    let siblings = || at.source.named(at.source.parent(at.node));
    let first = siblings().next() == Some(at.node);
    let here = siblings().any(|one| at.source.text(one) == text);
    let weight = if here { weight * 0.2 } else { weight };
    let leaves = at.kind() == "return_statement";
    if !leaves {
        into.push(Proposal { template: MissingStatement, weight, edits: vec![behind(at.source, at.node, text)] });
    }
    if (first || leaves) && at.kind() != "declaration" {
        let edits = vec![before(at.source, at.node, text)];
        into.push(Proposal { template: MissingStatement, weight: weight * 0.9, edits });
    }
}

/// Inserts a statement of the file, or its opposite.
pub(crate) fn from_elsewhere(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_place(at) {
        return;
    }
    let end = at.source.node(at.node).end;
    let function = at.source.function(at.node);
    let around = Around::of(at);
    let mut inserted = 0;
    for one in at.ingredients.statements.iter().copied() {
        if one == at.node || !at.symbols.all_visible(at.source, one, end.saturating_sub(1)) || !fields_fit(at, one) {
            continue;
        }
        let weight = likely(at, one, function, &around);
        put(at, into, weight, at.source.text(one));
        if let Some(opposite) = opposite(at.source.text(one)) {
            put(at, into, weight, &opposite);
        }
        inserted += 1;
        if inserted >= INSERTED_MAX {
            return;
        }
    }
}

/// The surroundings of a place: the names of the statement itself, and those in the conditions above it.
struct Around<'s> {
    names: BTreeSet<&'s str>,
    asked: BTreeSet<&'s str>,
    called: Option<String>,
}

impl<'s> Around<'s> {
    fn of(at: &At<'s>) -> Self {
        let conditions = at.source.ancestors(at.node).filter_map(|up| at.source.child(up, "condition"));
        let asked = conditions.take(2).flat_map(|node| words(at.source.text(node))).collect();
        Around { names: words(at.source.text(at.node)).collect(), asked, called: called(at.source, at.node) }
    }
}

/// Returns the function that a statement calls, if the statement is a call.
fn called(source: &Source, statement: usize) -> Option<String> {
    let call = source.named(statement).next().filter(|call| source.kind(*call) == "call_expression")?;
    source.child(call, "function").map(|node| source.text(node).to_owned())
}

/// Returns the likelihood of a statement. It is higher if the statement uses the same names, if it sets a tested
/// variable, if the file contains it more than once, and if it follows a similar statement elsewhere.
fn likely(at: &At<'_>, statement: usize, function: Option<usize>, around: &Around<'_>) -> f64 {
    let source = at.source;
    let text = source.text(statement);
    let target = text.split(['=', '+', '-', '(']).next().unwrap_or_default();
    let field = words(target).last().unwrap_or_default();
    let about = if words(text).any(|word| around.names.contains(word)) { 1.0 } else { 0.8 };
    let often = at.ingredients.frequency.get(text).copied().unwrap_or_default();
    let often = if often > 1 { 1.6 } else { 1.0 };
    let asked = if text.contains('=') && around.asked.contains(field) { 2.0 } else { 1.0 };
    let siblings: Vec<usize> = source.named(source.parent(statement)).collect();
    let place = siblings.iter().position(|one| *one == statement).unwrap_or_default();
    let before = place.checked_sub(1).and_then(|place| siblings.get(place));
    let like = before.is_some_and(|before| {
        source.text(*before) == source.text(at.node)
            || (around.called.is_some() && called(source, *before) == around.called)
    });
    let near = if source.function(statement) == function { 0.5 } else { 0.6 };
    near * about * asked * often * if like { 2.0 } else { 1.0 }
}

/// Returns true if the fields of a statement from elsewhere exist for the types of its variables here.
fn fields_fit(at: &At<'_>, statement: usize) -> bool {
    let byte = at.source.node(at.node).end.saturating_sub(1);
    at.source.inside(statement).filter(|node| at.source.kind(*node) == "field_expression").all(|node| {
        let (Some(owner), Some(field)) = (at.source.child(node, "argument"), at.source.child(node, "field")) else {
            return false;
        };
        if at.source.kind(owner) != "identifier" {
            return true;
        }
        let Some(variable) = at.symbols.variable_at(&at.source.path, byte, at.source.text(owner)) else { return false };
        let fields = at.symbols.fields_of(&variable.kind);
        fields.is_empty() || fields.iter().any(|one| one.name == at.source.text(field))
    })
}

/// Returns the opposite statement: `x--;` for `x++;`, `x = false;` for `x = true;`.
fn opposite(text: &str) -> Option<String> {
    const PAIRS: [(&str, &str); 3] = [("++;", "--;"), ("= true;", "= false;"), ("= 1;", "= 0;")];
    PAIRS.iter().find_map(|(a, b)| {
        let turned = |from: &str, to: &str| text.strip_suffix(from).map(|rest| format!("{rest}{to}"));
        turned(a, b).or_else(|| turned(b, a))
    })
}

/// Inserts an assignment to a field that is read but set only by the initialisation: the update was probably forgotten.
pub(crate) fn remembered(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_place(at) || function_name(at.source, at.node).contains("init") {
        return;
    }
    let byte = at.source.node(at.node).end.saturating_sub(1);
    let seen =
        At { node: at.node, source: at.source, symbols: at.symbols, hints: at.hints, ingredients: at.ingredients };
    for owner in at.symbols.visible(&at.source.path, byte).iter().filter(|one| one.kind.ends_with('*') && !one.global) {
        for field in at.symbols.fields_of(&owner.kind).iter().filter(|field| is_number(&field.kind)) {
            let forgotten =
                at.ingredients.read_fields.contains(&field.name) && !at.ingredients.moved_fields.contains(&field.name);
            if !forgotten {
                continue;
            }
            let target = format!("{}->{}", owner.name, field.name);
            for value in values(&seen, &field.kind).into_iter().filter(|value| *value != target).take(8) {
                put(at, into, 0.8, &format!("{target} = {value};"));
            }
            put(at, into, 0.5, &format!("{target}++;"));
        }
    }
}
