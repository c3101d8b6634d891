//! Operators: comparisons, arithmetic, bits, shifts, logic, assignment, and their precedence.

use super::{At, Proposal, binding};
use crate::template::Template::{
    self, Assignment, Boundary, Comparison, Logic, Operator, Precedence, Step, SwappedOperands,
};

/// Returns the operators that may be intended, with their weights.
fn others(operator: &str) -> &'static [(&'static str, f64, Template)] {
    match operator {
        "<" => &[("<=", 1.0, Boundary), (">", 0.5, Comparison), (">=", 0.6, Comparison), ("!=", 0.3, Comparison)],
        "<=" => &[("<", 1.0, Boundary), (">=", 0.5, Comparison), (">", 0.6, Comparison), ("==", 0.3, Comparison)],
        ">" => &[(">=", 1.0, Boundary), ("<", 0.5, Comparison), ("<=", 0.6, Comparison), ("!=", 0.3, Comparison)],
        ">=" => &[(">", 1.0, Boundary), ("<=", 0.5, Comparison), ("<", 0.6, Comparison), ("==", 0.3, Comparison)],
        "==" => &[
            ("!=", 1.0, Comparison),
            (">=", 0.5, Comparison),
            ("<=", 0.5, Comparison),
            ("<", 0.2, Comparison),
            (">", 0.2, Comparison),
        ],
        "!=" => &[
            ("==", 1.0, Comparison),
            ("<", 0.4, Comparison),
            (">", 0.4, Comparison),
            ("<=", 0.2, Comparison),
            (">=", 0.2, Comparison),
        ],
        "&&" => &[("||", 1.0, Logic), ("&", 0.3, Operator)],
        "||" => &[("&&", 1.0, Logic), ("|", 0.3, Operator)],
        "+" => &[("-", 1.0, Operator), ("*", 0.4, Operator), ("|", 0.3, Operator)],
        "-" => &[("+", 1.0, Operator), ("/", 0.3, Operator), ("%", 0.2, Operator)],
        "*" => &[("/", 0.9, Operator), ("+", 0.6, Operator), ("<<", 0.2, Operator)],
        "/" => &[("%", 0.9, Operator), ("*", 0.9, Operator), (">>", 0.3, Operator)],
        "%" => &[("/", 0.9, Operator), ("&", 0.7, Operator)],
        "&" => &[("|", 0.9, Operator), ("&&", 0.9, Operator), ("^", 0.5, Operator), ("%", 0.3, Operator)],
        "|" => &[("&", 0.9, Operator), ("||", 0.8, Operator), ("^", 0.7, Operator), ("+", 0.3, Operator)],
        "^" => &[("|", 0.9, Operator), ("&", 0.9, Operator)],
        "<<" => &[(">>", 1.0, Operator)],
        ">>" => &[("<<", 1.0, Operator)],
        _ => &[],
    }
}

/// Proposes another operator, or swaps the operands.
pub(crate) fn binary(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "binary_expression" {
        return;
    }
    let Some((node, operator)) = at.operator() else { return };
    for (other, weight, template) in others(operator) {
        if is_empty(at, other) {
            continue;
        }
        at.instead(into, *template, *weight, node, *other);
    }
    let (Some(left), Some(right)) = (at.child("left"), at.child("right")) else { return };
    if matches!(operator, "-" | "/" | "%" | "<<" | ">>" | "<" | ">" | "<=" | ">=") {
        let swapped = vec![at.replace(left, at.source.text(right)), at.replace(right, at.source.text(left))];
        let weight = if matches!(operator, "-" | "/") { 1.0 } else { 0.3 };
        into.push(Proposal { template: SwappedOperands, weight, edits: swapped });
    }
}

/// Returns true if a comparison with zero is constant, because an unsigned value is never less than zero.
fn is_empty(at: &At<'_>, operator: &str) -> bool {
    let zero = at.child("right").is_some_and(|right| matches!(at.source.text(right), "0" | "0u" | "0U"));
    let left = at.child("left").and_then(|left| at.symbols.kind_of(at.source, left)).unwrap_or_default();
    zero && matches!(operator, ">=" | "<") && (left.starts_with('u') || left == "size_t")
}

/// Proposes `a op (b op c)` for `(a op b) op c`, and the reverse, even if the parentheses are implicit.
pub(crate) fn regroup(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "binary_expression" {
        return;
    }
    let (Some((_, outer)), Some(left), Some(right)) = (at.operator(), at.child("left"), at.child("right")) else {
        return;
    };
    let (first, last) = (at.source.text(left), at.source.text(right));
    if let Some((a, inner, b)) = parts(at, left).filter(|(_, inner, _)| *inner != outer || matches!(outer, "-" | "/")) {
        at.instead(into, Precedence, mixed(inner, outer), at.node, format!("{a} {inner} ({b} {outer} {last})"));
    }
    if let Some((b, inner, c)) = parts(at, right).filter(|(_, inner, _)| *inner != outer || matches!(outer, "-" | "/"))
    {
        at.instead(into, Precedence, mixed(inner, outer), at.node, format!("({first} {outer} {b}) {inner} {c}"));
    }
}

/// Returns the operands and the operator of a binary expression, with or without parentheses.
fn parts<'a>(at: &At<'a>, node: usize) -> Option<(&'a str, &'a str, &'a str)> {
    let inner = if at.source.kind(node) == "parenthesized_expression" { at.source.named(node).next()? } else { node };
    if at.source.kind(inner) != "binary_expression" {
        return None;
    }
    let text = |field: &str| at.source.child(inner, field).map(|child| at.source.text(child));
    Some((text("left")?, text("operator")?, text("right")?))
}

/// Returns a higher weight for bit operators mixed with comparisons and for sums mixed with shifts, which are common
/// mistakes.
fn mixed(inner: &str, outer: &str) -> f64 {
    let bits = |operator: &str| matches!(operator, "&" | "|" | "^" | "<<" | ">>");
    if bits(inner) != bits(outer) && binding(inner) > 2 && binding(outer) > 2 { 1.5 } else { 0.6 }
}

/// Proposes another assignment operator, `++` for `--`, and prefix for postfix.
pub(crate) fn assignment(at: &At<'_>, into: &mut Vec<Proposal>) {
    let Some((node, operator)) = at.operator() else { return };
    if at.kind() == "assignment_expression" {
        let others: &[(&str, f64)] = match operator {
            "=" => &[("|=", 0.8), ("+=", 0.8), ("&=", 0.5), ("-=", 0.5), ("^=", 0.2)],
            "+=" => &[("-=", 1.0), ("=", 0.9), ("|=", 0.2)],
            "-=" => &[("+=", 1.0), ("=", 0.9)],
            "|=" => &[("=", 0.9), ("&=", 0.8), ("^=", 0.5), ("+=", 0.2)],
            "&=" => &[("=", 0.9), ("|=", 0.8), ("^=", 0.4)],
            "^=" => &[("|=", 0.9), ("&=", 0.5), ("=", 0.5)],
            "*=" => &[("/=", 0.8), ("+=", 0.5), ("=", 0.4)],
            "/=" => &[("*=", 0.8), ("%=", 0.5), ("=", 0.4)],
            "%=" => &[("/=", 0.6), ("&=", 0.6), ("=", 0.4)],
            "<<=" => &[(">>=", 1.0), ("=", 0.3)],
            ">>=" => &[("<<=", 1.0), ("=", 0.3)],
            _ => &[],
        };
        let factor = counted(at, operator);
        let others = others.iter().filter(|_| factor > 0.0);
        others.for_each(|(other, weight)| at.instead(into, Assignment, *weight * factor, node, *other));
    }
    if at.kind() == "update_expression" {
        step(at, node, operator, into);
    }
}

/// Returns the likelihood that a value is counted or has its bits set. It is zero for pointers, enumerations and
/// structures and for an assignment of a plain constant such as `0`, and lower for booleans.
fn counted(at: &At<'_>, operator: &str) -> f64 {
    let kind = at.child("left").and_then(|left| at.symbols.kind_of(at.source, left)).unwrap_or_default();
    let value = at.child("right").map(|right| at.source.text(right)).unwrap_or_default();
    let nothing = operator == "=" && matches!(value, "0" | "0u" | "NULL" | "false" | "true" | "{0}");
    if nothing || kind.ends_with('*') || kind.starts_with("enum ") || kind.starts_with("struct ") {
        0.0
    } else if kind == "bool" {
        0.4
    } else {
        1.0
    }
}

fn step(at: &At<'_>, node: usize, operator: &str, into: &mut Vec<Proposal>) {
    let other = if operator == "++" { "--" } else { "++" };
    at.instead(into, Step, 1.0, node, other);
    let Some(argument) = at.child("argument").map(|child| at.source.text(child)) else { return };
    if at.source.kind(at.source.parent(at.node)) != "expression_statement" {
        let moved = if at.text().starts_with(operator) {
            format!("{argument}{operator}")
        } else {
            format!("{operator}{argument}")
        };
        at.instead(into, Step, 0.7, at.node, moved);
        at.instead(into, Step, 0.3, at.node, argument);
    }
}
