//! Wrong variables: other visible variables of the type, other fields of the structure, other expressions of the same
//! type.

use super::{At, Proposal};
use crate::declared::{FUNCTION, fits};
use crate::hints::words;
use crate::source::Source;
use crate::template::Template::{Index, Variable};

/// The maximum number of alternatives that are tried for one place.
const OTHERS_MAX: usize = 24;

/// Proposes another variable of the type.
pub(crate) fn variable(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "identifier" || is_declared(at.source, at.node) {
        return;
    }
    let Some(this) = at.symbols.variable_at(&at.source.path, at.start(), at.text()) else { return };
    let template = if &*at.source.node(at.node).field == "index" { Index } else { Variable };
    let visible = at.symbols.visible(&at.source.path, at.start());
    let others = visible
        .into_iter()
        .filter(|other| other.name != this.name && other.kind != FUNCTION && fits(&this.kind, &other.kind));
    let counts = loop_counter(at);
    for other in others.filter(|other| !at.is_beside(&other.name)).take(OTHERS_MAX) {
        let same = if other.kind == this.kind { 1.0 } else { 0.6 };
        let near = if other.global { 0.4 } else { 1.0 };
        at.instead(into, template, same * near * counts * at.consistency(&other.name), at.node, other.name.clone());
    }
}

/// Returns a lower weight for the counter of a loop, which is seldom wrong.
fn loop_counter(at: &At<'_>) -> f64 {
    let head = at.source.above(at.node, "for_statement").and_then(|up| at.source.child(up, "initializer"));
    let counter = head.is_some_and(|head| words(at.source.text(head)).any(|word| word == at.text()));
    if counter { 0.4 } else { 1.0 }
}

/// Returns true if a name is declared here, not used.
fn is_declared(source: &Source, node: usize) -> bool {
    let field = &*source.node(node).field;
    field == "declarator"
        || matches!(
            source.kind(source.parent(node)),
            "parameter_declaration" | "pointer_declarator" | "array_declarator" | "function_declarator"
        )
}

/// Proposes another field of the structure.
pub(crate) fn field(at: &At<'_>, into: &mut Vec<Proposal>) {
    if at.kind() != "field_expression" {
        return;
    }
    let (Some(argument), Some(name)) = (at.child("argument"), at.child("field")) else { return };
    let Some(owner) = at.symbols.kind_of(at.source, argument) else { return };
    let fields = at.symbols.fields_of(&owner);
    let Some(this) = fields.iter().find(|one| one.name == at.source.text(name)) else { return };
    for other in fields.iter().filter(|other| other.name != this.name && fits(&this.kind, &other.kind)).take(OTHERS_MAX)
    {
        let weight = if other.kind == this.kind { 0.9 } else { 0.5 };
        at.instead(into, Variable, weight * at.consistency(&other.name), name, other.name.clone());
    }
}

/// Proposes another expression of exactly the same type: a variable for a field, a field for a variable.
pub(crate) fn same_type(at: &At<'_>, into: &mut Vec<Proposal>) {
    let usable = matches!(
        at.kind(),
        "field_expression" | "pointer_expression" | "subscript_expression" | "identifier" | "call_expression"
    );
    if !usable || !at.is_read() || !at.in_function() || is_declared(at.source, at.node) {
        return;
    }
    if at.kind() == "identifier" && at.symbols.variable_at(&at.source.path, at.start(), at.text()).is_none() {
        return;
    }
    let Some(kind) = at.symbols.kind_of(at.source, at.node).filter(|kind| kind != FUNCTION) else { return };
    for other in
        values(at, &kind).into_iter().filter(|other| other != at.text() && !at.is_beside(other)).take(OTHERS_MAX)
    {
        at.instead(into, Variable, 0.45, at.node, other);
    }
}

/// Returns visible expressions of the type: variables, and their direct fields.
pub(crate) fn values(at: &At<'_>, kind: &str) -> Vec<String> {
    let mut values = Vec::new();
    for variable in at.symbols.visible(&at.source.path, at.start()) {
        if variable.kind == kind {
            values.push(variable.name.clone());
        }
        let arrow = if variable.kind.ends_with('*') { "->" } else { "." };
        if variable.kind.ends_with("**") || variable.kind.ends_with("[]") {
            continue;
        }
        for field in at.symbols.fields_of(&variable.kind).iter().filter(|field| field.kind == kind) {
            values.push(format!("{}{arrow}{}", variable.name, field.name));
        }
    }
    values
}
