//! Missing terms: an offset, a factor, a flag; and expressions as they are written elsewhere in the file.

use std::collections::BTreeSet;

use super::{At, Proposal, binding, is_simple};
use crate::declared::{bits, is_number, pointee};
use crate::hints::words;
use crate::template::Template::{AsElsewhere, MissingTerm, Rounding};

/// The maximum number of terms that are tried for one expression.
const TERMS_MAX: usize = 14;

/// `x` becomes `x - HEADER`, `x * SIZE`, `x | FLAG`, `bytes + first`: with constants and variables of the function, and
/// those in the failed checks.
pub(crate) fn named_term(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_simple(at.kind()) || at.kind() == "number_literal" || !at.is_read() || !takes_a_term(at) {
        return;
    }
    let kind = at.symbols.kind_of(at.source, at.node).unwrap_or_default();
    let pointer = pointee(&kind).is_some_and(|of| bits(of).is_some());
    if !(pointer || is_number(&kind)) || kind == "bool" {
        return;
    }
    for (term, weight, constant) in terms(at) {
        let operators: &[(&str, f64)] = match (pointer, constant) {
            (true, _) => &[("+", 1.0)],
            (false, true) => &[("-", 0.8), ("+", 0.7), ("*", 0.6), ("|", 0.6), ("&", 0.3), ("/", 0.3)],
            (false, false) => &[("+", 0.6), ("-", 0.6)],
        };
        for (operator, likely) in operators {
            let text = format!("{} {operator} {term}", at.text());
            let text = if is_tight(at, operator) { format!("({text})") } else { text };
            at.instead(into, MissingTerm, weight * likely, at.node, text);
        }
    }
}

fn takes_a_term(at: &At<'_>) -> bool {
    let parent = at.source.parent(at.node);
    match at.source.kind(parent) {
        "argument_list" | "assignment_expression" | "init_declarator" | "return_statement" => true,
        "binary_expression" => at.source.child(parent, "operator").is_some_and(|node| {
            let operator = at.source.text(node);
            matches!(operator, "<" | "<=" | ">" | ">=" | "==" | "!=" | "+" | "-")
        }),
        _ => false,
    }
}

fn is_tight(at: &At<'_>, operator: &str) -> bool {
    let parent = at.source.parent(at.node);
    let outer = at.source.child(parent, "operator").map(|node| at.source.text(node)).unwrap_or_default();
    let behind = &*at.source.node(at.node).field == "right";
    binding(outer) > binding(operator) || (behind && binding(outer) == binding(operator) && binding(outer) > 0)
}

/// Returns names with their weights, and true for constants.
fn terms(at: &At<'_>) -> Vec<(String, f64, bool)> {
    let mut terms: Vec<(String, f64, bool)> =
        at.symbols.constants_of(&at.source.path).filter_map(|(name, _)| constant(at, name)).collect();
    let statement = at.source.ancestors(at.node).find(|up| at.source.kind(*up).ends_with("_statement"));
    let beside: BTreeSet<&str> = statement.map(|node| words(at.source.text(node)).collect()).unwrap_or_default();
    for variable in at.symbols.visible(&at.source.path, at.start()) {
        if is_number(&variable.kind) && variable.kind != "bool" && !variable.global && variable.name != at.text() {
            let weight = if beside.contains(variable.name.as_str()) { 0.8 } else { 0.45 };
            terms.push((variable.name.clone(), weight, false));
        }
    }
    terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms.truncate(TERMS_MAX);
    terms
}

/// Returns a macro that occurs in a failed check, the function or the file, with its weight.
fn constant(at: &At<'_>, name: &str) -> Option<(String, f64, bool)> {
    let constant = at.symbols.constants.get(name).filter(|constant| constant.of.is_empty())?;
    let function = at.source.function(at.node)?;
    let here = at.ingredients.constants.get(&function).is_some_and(|near| near.contains(name));
    let weight = match (at.hints.names(name), here, constant.path == at.source.path) {
        (true, _, _) => 1.0,
        (_, true, _) => 0.8,
        (_, _, true) => 0.4,
        _ => return None,
    };
    Some((name.to_owned(), weight, true))
}

/// Proposes a larger expression of the file that contains this one as an operand.
pub(crate) fn as_elsewhere(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !is_simple(at.kind()) || !at.is_read() || !at.in_function() {
        return;
    }
    let Some(larger) = at.ingredients.larger.get(at.text()) else { return };
    for one in larger.iter().copied() {
        for expression in [one, at.source.parent(one)] {
            offer(at, expression, into);
        }
    }
}

fn offer(at: &At<'_>, expression: usize, into: &mut Vec<Proposal>) {
    let source = at.source;
    let operator = source.child(expression, "operator").map(|node| source.text(node)).unwrap_or_default();
    let number = matches!(operator, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" | "~");
    let usable = match source.kind(expression) {
        "binary_expression" | "unary_expression" => number,
        kind => matches!(kind, "subscript_expression" | "cast_expression"),
    };
    let around = source.node(expression).start <= at.start() && at.start() < source.node(expression).end;
    if !usable || around || !at.symbols.all_visible(source, expression, at.start()) {
        return;
    }
    let near = source.function(expression) == source.function(at.node);
    let text = source.text(expression);
    let text =
        if source.kind(source.parent(at.node)) == "binary_expression" { format!("({text})") } else { text.to_owned() };
    at.instead(into, AsElsewhere, if near { 0.8 } else { 0.5 }, at.node, text);
}

/// Proposes `a / b` rounded to the nearest or up.
pub(crate) fn rounding(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "binary_expression" || at.operator().is_none_or(|(_, operator)| operator != "/") {
        return;
    }
    let (Some(left), Some(right)) = (at.child("left"), at.child("right")) else { return };
    let (a, b) = (at.source.text(left), at.source.text(right));
    at.instead(into, Rounding, 1.0, at.node, format!("({a} + {b} / 2) / {b}"));
    at.instead(into, Rounding, 1.0, at.node, format!("({a} + {b} - 1) / {b}"));
}
