//! Missing checks: for null pointers, for values out of range, for overflows.

use std::collections::BTreeSet;

use super::statements::{before, returns};
use super::{At, Proposal};
use crate::declared::is_number;
use crate::template::Template::{self, NullCheck, OverflowCheck, RangeCheck};

/// The maximum number of checks that are tried at one place.
const CHECKS_MAX: usize = 16;

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
    statement && at.source.kind(at.source.parent(at.node)) == "compound_statement"
}

fn put(at: &At<'_>, into: &mut Vec<Proposal>, template: Template, weight: f64, condition: &str) {
    let indent = at.source.indent(at.node);
    let step = if indent.contains('\t') { "\t" } else { "    " };
    for (answer, likely) in returns(at).into_iter().take(4) {
        let text = format!("if ({condition}) {{\n{indent}{step}{answer}\n{indent}}}");
        into.push(Proposal { template, weight: weight * likely, edits: vec![before(at.source, at.node, &text)] });
    }
}

/// Returns the statement's own names, without those of nested statements.
fn own_names<'a>(at: &At<'a>) -> BTreeSet<&'a str> {
    let inner = ["compound_statement", "else_clause"];
    let source = at.source;
    let own = source.inside(at.node).filter(|node| source.kind(*node) == "identifier");
    own.filter(|node| {
        !source.ancestors(*node).take_while(|up| *up != at.node).any(|up| inner.contains(&source.kind(up)))
    })
    .map(|node| source.text(node))
    .collect()
}

/// Adds a check for a pointer that is used and may be null.
pub(crate) fn null_check(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_place(at) {
        return;
    }
    for name in own_names(at).into_iter().take(CHECKS_MAX) {
        let Some(variable) = at.symbols.variable_at(&at.source.path, at.start(), name) else { continue };
        let used = [format!("{name}->"), format!("*{name}"), format!("{name}[")]
            .iter()
            .any(|form| at.text().contains(form.as_str()));
        if variable.kind.ends_with('*') && used {
            put(at, into, NullCheck, if at.hints.faulted { 1.0 } else { 0.3 }, &format!("{name} == NULL"));
        }
    }
}

/// Adds a check for an index that may be outside its array.
pub(crate) fn range_check(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_place(at) {
        return;
    }
    let source = at.source;
    let mut conditions: BTreeSet<String> = BTreeSet::new();
    for node in source.inside(at.node).filter(|node| source.kind(*node) == "subscript_expression") {
        let (Some(array), Some(index)) = (source.child(node, "argument"), source.child(node, "index")) else {
            continue;
        };
        if source.kind(index) == "number_literal" || conditions.len() >= CHECKS_MAX {
            continue;
        }
        if let Some(size) = size_of(at, array) {
            conditions.insert(format!("{} >= {size}", source.text(index).trim_end_matches("++")));
        }
    }
    conditions.iter().for_each(|condition| put(at, into, RangeCheck, 1.0, condition));
}

/// Returns the written size of an array: a variable's or a field's.
fn size_of(at: &At<'_>, array: usize) -> Option<String> {
    let source = at.source;
    match source.kind(array) {
        "identifier" => {
            at.symbols.variable_at(&source.path, source.node(array).start, source.text(array))?.size.clone()
        }
        "field_expression" => {
            let owner = at.symbols.kind_of(source, source.child(array, "argument")?)?;
            let name = source.text(source.child(array, "field")?);
            at.symbols.fields_of(&owner).iter().find(|one| one.name == name)?.size.clone()
        }
        _ => None,
    }
}

/// Adds a check for an unsigned sum that may overflow, or an unsigned difference that may be negative.
pub(crate) fn overflow_check(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_place(at) {
        return;
    }
    for node in at.source.inside(at.node).filter(|node| at.source.kind(*node) == "binary_expression").take(CHECKS_MAX) {
        let text = |field: &str| at.source.child(node, field).map(|child| at.source.text(child)).unwrap_or_default();
        let kind = at.symbols.kind_of(at.source, node).unwrap_or_default();
        let (left, right) = (text("left"), text("right"));
        let most = match kind.as_str() {
            "uint8_t" => "UINT8_MAX",
            "uint16_t" => "UINT16_MAX",
            "uint32_t" => "UINT32_MAX",
            _ => continue,
        };
        if text("operator") == "+" && is_number(&kind) {
            put(at, into, OverflowCheck, 0.6, &format!("{left} > {most} - {right}"));
        } else if text("operator") == "-" {
            put(at, into, OverflowCheck, 0.6, &format!("{left} < {right}"));
        }
    }
}

/// Rewrites a comparison of a sum so that it does not overflow: `a - b >= c` for `a >= b + c`.
pub(crate) fn rearrange(at: &At<'_>, into: &mut Vec<Proposal>) {
    let (Some((_, operator)), Some(left), Some(right)) = (at.operator(), at.child("left"), at.child("right")) else {
        return;
    };
    if at.kind() != "binary_expression" || !matches!(operator, "<" | "<=" | ">" | ">=") {
        return;
    }
    if let Some((first, second)) = sum(at, right) {
        let other = at.source.text(left);
        at.instead(into, OverflowCheck, 1.0, at.node, format!("{other} - {first} {operator} {second}"));
        at.instead(into, OverflowCheck, 0.6, at.node, format!("{other} - {second} {operator} {first}"));
    }
    if let Some((first, second)) = sum(at, left) {
        let other = at.source.text(right);
        at.instead(into, OverflowCheck, 1.0, at.node, format!("{first} {operator} {other} - {second}"));
        at.instead(into, OverflowCheck, 0.6, at.node, format!("{second} {operator} {other} - {first}"));
    }
}

fn sum<'a>(at: &At<'a>, node: usize) -> Option<(&'a str, &'a str)> {
    let text = |field: &str| at.source.child(node, field).map(|child| at.source.text(child));
    (at.source.kind(node) == "binary_expression" && text("operator")? == "+").then_some((text("left")?, text("right")?))
}
