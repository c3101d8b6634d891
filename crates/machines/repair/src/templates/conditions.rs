//! Conditions: negated, strengthened and weakened.

use std::collections::BTreeSet;

use super::{At, Proposal};
use crate::declared::is_number;
use crate::template::Template::{ExtraTerm, Negated, Strengthened, Weakened};

/// The maximum number of conditions that are borrowed for one place.
const BORROWED_MAX: usize = 24;

/// Returns the node of a condition without its parentheses: of `if`, `while`, `for`, `?:`, or a returned `bool`.
fn condition(at: &At<'_>) -> Option<usize> {
    let inner = match at.kind() {
        "if_statement" | "while_statement" | "do_statement" => at.source.named(at.child("condition")?).next()?,
        "for_statement" | "conditional_expression" => at.child("condition")?,
        "return_statement" => {
            let value = at.source.named(at.node).next()?;
            let truth = at.source.kind(value) == "binary_expression"
                && at.source.child(value, "operator").is_some_and(|node| is_truth(at.source.text(node)));
            truth.then_some(value)?
        }
        _ => return None,
    };
    Some(inner)
}

fn is_truth(operator: &str) -> bool {
    matches!(operator, "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||")
}

/// Proposes `if (!(c))` for `if (c)`.
pub(crate) fn negate(at: &At<'_>, into: &mut Vec<Proposal>) {
    let Some(inner) = condition(at) else { return };
    let text = at.source.text(inner);
    match at.source.kind(inner) {
        "unary_expression" if text.starts_with('!') => {}
        "binary_expression" => at.instead(into, Negated, 0.7, inner, format!("!({text})")),
        _ => at.instead(into, Negated, 1.0, inner, format!("!{text}")),
    }
}

/// Proposes `a` or `b` for `a && b`, and removes superfluous terms of sums.
pub(crate) fn drop_operand(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "binary_expression" || !at.in_function() {
        return;
    }
    let (Some((_, operator)), Some(left), Some(right)) = (at.operator(), at.child("left"), at.child("right")) else {
        return;
    };
    let (template, first, second) = match operator {
        "&&" => (Weakened, 0.9, 0.9),
        "||" => (Strengthened, 0.9, 0.9),
        "+" | "-" | "*" | "/" | "|" | "^" | "&" | "%" | "<<" | ">>" => (ExtraTerm, 0.7, 0.15),
        _ => return,
    };
    at.instead(into, template, first, at.node, at.source.text(left));
    at.instead(into, template, second, at.node, at.source.text(right));
}

/// Proposes `c && other` and `c || other`, with conditions of the file, null checks and the second half of a range.
pub(crate) fn join(at: &At<'_>, into: &mut Vec<Proposal>) {
    let Some(inner) = condition(at) else { return };
    let text = at.source.text(inner);
    let loops = matches!(at.kind(), "for_statement" | "while_statement");
    for (other, weight) in others(at, inner) {
        let wrap = |operator: &str| if text.contains(operator) { format!("({text})") } else { text.to_owned() };
        at.instead(into, Strengthened, weight, inner, format!("{} && {other}", wrap("||")));
        if !loops {
            at.instead(into, Weakened, weight, inner, format!("{} || {other}", wrap("&&")));
        }
    }
}

fn others(at: &At<'_>, inner: usize) -> Vec<(String, f64)> {
    let mut others = sums(at, inner);
    let byte = at.source.node(inner).start;
    let text = at.source.text(inner);
    let function = at.source.function(at.node);
    for one in at.ingredients.conditions.iter().copied() {
        let known = at.source.text(one);
        if !text.contains(known) && at.symbols.all_visible(at.source, one, byte) {
            let near = at.source.function(one) == function;
            others.push((known.to_owned(), if near { 0.5 } else { 0.7 }));
        }
    }
    for variable in
        at.symbols.visible(&at.source.path, byte).iter().filter(|one| one.kind.ends_with('*') && !one.global)
    {
        others.push((format!("{} != NULL", variable.name), 0.4));
        others.push((format!("{} == NULL", variable.name), 0.4));
    }
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    others.dedup();
    others.truncate(BORROWED_MAX);
    others
}

/// For each comparison of `a` with a limit, returns the comparisons of `a + b` and of `b` with the same limit, for
/// every other local number `b`.
fn sums(at: &At<'_>, inner: usize) -> Vec<(String, f64)> {
    let byte = at.source.node(inner).start;
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for variable in at.symbols.visible(&at.source.path, byte) {
        if is_number(&variable.kind) && variable.kind != "bool" && !variable.global {
            names.insert(&variable.name);
        }
    }
    let mut sums = Vec::new();
    for one in at.source.inside(inner).filter(|one| at.source.kind(*one) == "binary_expression") {
        let text = |field: &str| at.source.child(one, field).map(|child| at.source.text(child)).unwrap_or_default();
        let (left, operator, limit) = (text("left"), text("operator"), text("right"));
        if !matches!(operator, ">" | ">=" | "<" | "<=") || !names.contains(left) || names.contains(limit) {
            continue;
        }
        for other in names.iter().filter(|other| **other != left) {
            let strict = if operator.starts_with('>') { ">" } else { "<=" };
            sums.push((format!("{left} + {other} {strict} {limit}"), 0.8));
            sums.push((format!("{other} {operator} {limit}"), 0.5));
        }
    }
    sums
}
