//! Off by one: adds or subtracts one in an expression at places of common mistakes.

use super::{At, Proposal, binding, is_simple};
use crate::declared::is_number;
use crate::template::Template;
use crate::template::Template::{Index, Mask, OffByOne};

/// `x` becomes `x + 1` or `x - 1`; `x + 1` and `x - 1` become `x`.
pub(crate) fn off_by_one(at: &At<'_>, into: &mut Vec<Proposal>) {
    drop_one(at, into);
    let Some((template, weight)) = position(at) else { return };
    let kind = at.symbols.kind_of(at.source, at.node);
    if kind.as_ref().is_some_and(|kind| !is_number(kind) || kind == "bool") || at.kind() == "number_literal" {
        return;
    }
    let text = at.text();
    let wrapped = needs_parentheses(at);
    for (sign, likely) in [("-", 1.0), ("+", 0.9)] {
        let one = format!("{text} {sign} 1");
        at.instead(into, template, weight * likely, at.node, if wrapped { format!("({one})") } else { one });
    }
}

/// Returns the template and weight if a sum may be used here and a number is counted, indexed or compared.
fn position(at: &At<'_>) -> Option<(Template, f64)> {
    let operand = is_simple(at.kind()) || (at.kind() == "binary_expression" && matches!(at.operator()?.1, "+" | "-"));
    if !operand || !at.in_function() || !at.is_read() {
        return None;
    }
    let parent = at.source.parent(at.node);
    Some(match at.source.kind(parent) {
        "binary_expression" => {
            return operand_of(at.source.child(parent, "operator").map(|node| at.source.text(node))?, at);
        }
        "subscript_expression" if &*at.source.node(at.node).field == "index" => (Index, 0.8),
        "argument_list" => (OffByOne, 0.5),
        "assignment_expression" | "init_declarator" => (OffByOne, 0.6),
        "return_statement" | "conditional_expression" => (OffByOne, 0.6),
        "parenthesized_expression" if at.kind() == "binary_expression" => (OffByOne, 0.3),
        _ => return None,
    })
}

fn operand_of(operator: &str, at: &At<'_>) -> Option<(Template, f64)> {
    let right = &*at.source.node(at.node).field == "right";
    Some(match operator {
        "<" | "<=" | ">" | ">=" => (OffByOne, if right { 0.8 } else { 0.5 }),
        "==" | "!=" => (OffByOne, if right { 0.6 } else { 0.4 }),
        "&" => (Mask, if is_named_constant(at) || !right { 0.15 } else { 0.8 }),
        "/" | "%" => (OffByOne, if right { 0.3 } else { 0.8 }),
        "-" | "+" => (OffByOne, if right { 0.3 } else { 0.15 }),
        "*" | "<<" | ">>" => (OffByOne, 0.4),
        _ => return None,
    })
}

/// Returns true for a named constant, which may already be a mask.
fn is_named_constant(at: &At<'_>) -> bool {
    at.kind() == "identifier" && at.symbols.constants.contains_key(at.text())
}

fn needs_parentheses(at: &At<'_>) -> bool {
    let parent = at.source.parent(at.node);
    let Some(operator) = at.source.child(parent, "operator").filter(|_| at.source.kind(parent) == "binary_expression")
    else {
        return false;
    };
    let operator = at.source.text(operator);
    let behind_minus = binding(operator) == 9 && &*at.source.node(at.node).field == "right";
    // Sums beside shifts and bits get parentheses for readability too.
    behind_minus || binding(operator) > 9 || matches!(operator, "&" | "|" | "^" | "<<" | ">>")
}

/// Removes a superfluous one.
fn drop_one(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "binary_expression" {
        return;
    }
    let (Some((node, operator)), Some(left), Some(right)) = (at.operator(), at.child("left"), at.child("right")) else {
        return;
    };
    let one = matches!(at.source.text(right), "1" | "1u" | "1U" | "1UL");
    if one && matches!(operator, "+" | "-") {
        at.instead(into, OffByOne, 0.9, at.node, at.source.text(left));
        at.instead(into, OffByOne, 0.5, node, if operator == "+" { "-" } else { "+" });
    }
}
