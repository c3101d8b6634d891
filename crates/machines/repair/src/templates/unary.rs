//! Unary operators, added or removed; complements of masks.

use super::{At, Proposal};
use crate::declared::is_number;
use crate::template::Template::{Mask, Unary};

/// Proposes `!x` for `x`, `~MASK` for `MASK`, `*p` for `p`, `&x` for `x`, and the reverse.
pub(crate) fn unary(at: &At<'_>, into: &mut Vec<Proposal>) {
    match at.kind() {
        "unary_expression" | "pointer_expression" => take_out(at, into),
        "identifier"
        | "field_expression"
        | "call_expression"
        | "parenthesized_expression"
        | "subscript_expression"
        | "number_literal" => {
            put_in(at, into);
        }
        _ => {}
    }
}

fn take_out(at: &At<'_>, into: &mut Vec<Proposal>) {
    let (Some((node, operator)), Some(argument)) = (at.operator(), at.child("argument")) else { return };
    let weight = if at.kind() == "unary_expression" { 0.8 } else { 0.2 };
    at.instead(into, Unary, weight, at.node, at.source.text(argument));
    if operator == "!" || operator == "~" {
        at.instead(into, Unary, 0.6, node, if operator == "!" { "~" } else { "!" });
    }
}

fn put_in(at: &At<'_>, into: &mut Vec<Proposal>) {
    let parent = at.source.parent(at.node);
    let operator = at.source.child(parent, "operator").map(|node| at.source.text(node)).unwrap_or_default();
    let field = &*at.source.node(at.node).field;
    let text = at.text();
    match at.source.kind(parent) {
        "assignment_expression" if field == "right" && matches!(operator, "&=" | "|=" | "^=") => {
            at.instead(into, Mask, if operator == "&=" { 1.0 } else { 0.3 }, at.node, format!("~{text}"));
        }
        "binary_expression" if operator == "&" => {
            at.instead(into, Mask, if field == "right" { 0.5 } else { 0.2 }, at.node, format!("~{text}"));
        }
        "binary_expression" if matches!(operator, "&&" | "||") => {
            at.instead(into, Unary, 0.8, at.node, format!("!{text}"))
        }
        "return_statement" | "assignment_expression" | "init_declarator"
            if field != "left" && field != "declarator" =>
        {
            value(at, into)
        }
        "argument_list" => argument(at, into),
        _ => {}
    }
}

/// Changes a value that is passed on: the opposite boolean, the other sign.
fn value(at: &At<'_>, into: &mut Vec<Proposal>) {
    let kind = at.symbols.kind_of(at.source, at.node).unwrap_or_default();
    if kind == "bool" {
        at.instead(into, Unary, 0.6, at.node, format!("!{}", at.text()));
    } else if is_number(&kind) {
        at.instead(into, Unary, 0.2, at.node, format!("-{}", at.text()));
        at.instead(into, Unary, 0.2, at.node, format!("~{}", at.text()));
    }
}

/// Passes the address or the target of an argument, only if the types require it.
fn argument(at: &At<'_>, into: &mut Vec<Proposal>) {
    let source = at.source;
    let list = source.parent(at.node);
    let Some(function) = source.child(source.parent(list), "function") else { return };
    let Some(signature) = at.symbols.functions.get(source.text(function)) else { return };
    let Some(index) = source.named(list).position(|one| one == at.node) else { return };
    let (Some(wanted), Some(given)) = (signature.takes.get(index), at.symbols.kind_of(source, at.node)) else { return };
    if *wanted == format!("{given}*") {
        at.instead(into, Unary, 0.9, at.node, format!("&{}", at.text()));
    } else if given == format!("{wanted}*") {
        at.instead(into, Unary, 0.9, at.node, format!("*{}", at.text()));
    }
}
