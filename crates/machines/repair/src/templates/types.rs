//! Types: width and sign of declarations and casts, `volatile`, and initial values.

use super::ingredients::function_name;
use super::{At, Proposal};
use crate::declared::{base, bits, declared, is_number};
use crate::edit::Edit;
use crate::template::Template::{Cast, Initialisation, Type, Volatile};

/// Returns the types that may be intended: wider first, then the other sign, then narrower.
fn others(kind: &str) -> &'static [(&'static str, f64)] {
    match kind {
        "uint8_t" => &[("uint16_t", 0.9), ("uint32_t", 0.7), ("int8_t", 0.5), ("int", 0.4)],
        "uint16_t" => &[("uint32_t", 0.9), ("int16_t", 0.5), ("uint8_t", 0.5), ("int", 0.4)],
        "uint32_t" => &[("int32_t", 0.6), ("uint64_t", 0.6), ("uint16_t", 0.4), ("uint8_t", 0.3)],
        "int8_t" => &[("uint8_t", 0.9), ("int16_t", 0.8), ("int", 0.6)],
        "int16_t" => &[("uint16_t", 0.9), ("int32_t", 0.8)],
        "int32_t" => &[("uint32_t", 0.9), ("int64_t", 0.6)],
        "int" => &[("unsigned", 0.6), ("uint32_t", 0.6), ("long long", 0.2)],
        "unsigned" | "unsigned int" | "size_t" => &[("int", 0.9), ("uint64_t", 0.3)],
        "char" => &[("unsigned char", 0.9), ("signed char", 0.6), ("int", 0.6)],
        "bool" => &[("int", 0.3)],
        _ => &[],
    }
}

/// Proposes another width or sign of a variable, parameter, field or return value.
pub(crate) fn width(at: &At<'_>, into: &mut Vec<Proposal>) {
    if !matches!(at.kind(), "declaration" | "parameter_declaration" | "field_declaration" | "function_definition") {
        return;
    }
    let Some(node) = at.child("type") else { return };
    let factor = if at.kind() == "function_definition" { 0.5 } else { 1.0 };
    for (other, weight) in others(at.source.text(node)) {
        at.instead(into, Type, weight * factor, node, *other);
    }
}

/// Proposes `volatile` for declarations outside functions, with a higher weight if an interrupt changes the variable,
/// and for the targets of pointers to registers.
pub(crate) fn volatile(at: &At<'_>, into: &mut Vec<Proposal>) {
    let local = at.in_function() && at.kind() != "parameter_declaration";
    if !matches!(at.kind(), "declaration" | "field_declaration" | "parameter_declaration") || local {
        return;
    }
    let Some(node) = at.child("type") else { return };
    let head = at.source.text.get(at.start()..at.source.node(node).start).unwrap_or_default();
    let names = declared(at.source, at.node);
    if head.contains("volatile") || head.contains("const") || names.is_empty() {
        return;
    }
    let shared = names.iter().any(|one| is_changed_by_interrupt(at, &one.name));
    let weight = if shared {
        1.6
    } else if at.kind() == "declaration" {
        0.3
    } else {
        0.15
    };
    let start = at.source.node(node).start;
    into.push(Proposal {
        template: Volatile,
        weight,
        edits: vec![Edit { start, end: start, text: "volatile ".to_owned() }],
    });
}

fn is_changed_by_interrupt(at: &At<'_>, name: &str) -> bool {
    let uses = (0..at.source.nodes.len())
        .filter(|node| at.source.kind(*node) == "identifier" && at.source.text(*node) == name);
    let mut functions = uses.map(|node| function_name(at.source, node).to_ascii_lowercase());
    functions
        .any(|function| ["isr", "irq", "handler", "interrupt", "callback"].iter().any(|word| function.contains(word)))
}

/// Initialises a local variable that has no initial value.
pub(crate) fn initialise(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "declaration" || !at.in_function() {
        return;
    }
    let Some(declarator) = at.child("declarator").filter(|node| at.source.kind(*node) != "init_declarator") else {
        return;
    };
    for one in declared(at.source, at.node) {
        let value = if one.kind.ends_with('*') {
            "NULL"
        } else if is_number(&one.kind) {
            "0"
        } else {
            "{0}"
        };
        let text = format!("{} = {value}", at.source.text(declarator));
        at.instead(into, Initialisation, 1.0, declarator, text);
    }
}

/// Adds, removes or changes a cast.
pub(crate) fn cast(at: &At<'_>, into: &mut Vec<Proposal>) {
    match at.kind() {
        "cast_expression" => recast(at, into),
        "binary_expression" => widen(at, into),
        _ => {}
    }
}

fn recast(at: &At<'_>, into: &mut Vec<Proposal>) {
    let (Some(kind), Some(value)) = (at.child("type"), at.child("value")) else { return };
    at.instead(into, Cast, 0.4, at.node, at.source.text(value));
    for (other, weight) in others(&base(at.source.text(kind))) {
        at.instead(into, Cast, weight * 0.7, kind, *other);
    }
}

/// Adds a cast before a product, shift or sum that needs more bits, or around a difference that needs fewer bits or a
/// sign.
fn widen(at: &At<'_>, into: &mut Vec<Proposal>) {
    let (Some((_, operator)), Some(left)) = (at.operator(), at.child("left")) else { return };
    let kind = at.symbols.kind_of(at.source, left).unwrap_or_default();
    if bits(&kind).is_none() {
        return;
    }
    let text = at.source.text(left);
    let operand = if super::is_simple(at.source.kind(left)) { text.to_owned() } else { format!("({text})") };
    let before: &[(&str, f64)] = match operator {
        "*" | "<<" => &[("uint64_t", 0.8), ("uint32_t", 0.7), ("int64_t", 0.2)],
        "+" | "/" | ">>" => &[("uint32_t", 0.4), ("uint64_t", 0.4), ("int", 0.2)],
        "<" | "<=" | ">" | ">=" => &[("int32_t", 0.5), ("uint32_t", 0.4)],
        _ => &[],
    };
    before.iter().for_each(|(to, weight)| at.instead(into, Cast, *weight, left, format!("({to}){operand}")));
    if matches!(operator, "-" | "+" | "<<") {
        for (to, weight) in [("uint16_t", 0.6), ("uint8_t", 0.6), ("int32_t", 0.4)] {
            at.instead(into, Cast, weight, at.node, format!("({to})({})", at.text()));
        }
    }
}
