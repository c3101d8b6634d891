//! The statements, expressions and conditions of a file that can be reused elsewhere in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// The maximum length of a text that is reused.
const TEXT_MAX: usize = 100;
/// The maximum number of statements or conditions that a file provides.
const KEPT_MAX: usize = 200;
/// The maximum number of larger expressions that are kept for one operand.
const LARGER_MAX: usize = 8;

/// Nodes of a file that are worth reusing elsewhere.
pub(crate) struct Ingredients {
    /// Statements with one effect: an assignment, a step, a call.
    pub(crate) statements: Vec<usize>,
    /// The number of occurrences of each statement in the file.
    pub(crate) frequency: BTreeMap<String, usize>,
    /// Conditions and their parts.
    pub(crate) conditions: Vec<usize>,
    /// The expressions that contain an operand, by the operand's text.
    pub(crate) larger: BTreeMap<String, Vec<usize>>,
    /// Fields that are assigned outside initialisation functions.
    pub(crate) moved_fields: BTreeSet<String>,
    /// Fields that are read anywhere.
    pub(crate) read_fields: BTreeSet<String>,
    /// The numbers of each function, by its node.
    pub(crate) numbers: BTreeMap<usize, BTreeSet<String>>,
    /// The capitalised names of each function, by its node.
    pub(crate) constants: BTreeMap<usize, BTreeSet<String>>,
}

impl Ingredients {
    /// Collects the ingredients of a file.
    pub(crate) fn of(source: &Source) -> Ingredients {
        let mut all = Ingredients {
            statements: Vec::new(),
            frequency: BTreeMap::new(),
            conditions: Vec::new(),
            larger: BTreeMap::new(),
            moved_fields: BTreeSet::new(),
            read_fields: BTreeSet::new(),
            numbers: BTreeMap::new(),
            constants: BTreeMap::new(),
        };
        let mut texts = BTreeSet::new();
        for at in 0..source.nodes.len() {
            all.take(source, at, &mut texts);
        }
        all
    }

    fn take(&mut self, source: &Source, at: usize, texts: &mut BTreeSet<String>) {
        match source.kind(at) {
            "expression_statement" => {
                *self.frequency.entry(source.text(at).to_owned()).or_default() += 1;
                keep(&mut self.statements, source, at, texts);
            }
            "binary_expression" => {
                if is_condition(source, at) {
                    keep(&mut self.conditions, source, at, texts);
                }
                self.enlarge(source, at);
            }
            "unary_expression" => {
                if source.text(at).starts_with('!') {
                    keep(&mut self.conditions, source, at, texts);
                }
                self.enlarge(source, at);
            }
            "subscript_expression" | "cast_expression" => self.enlarge(source, at),
            "field_expression" => self.field(source, at),
            "number_literal" => note(&mut self.numbers, source, at),
            "identifier" if is_capitalised(source.text(at)) => note(&mut self.constants, source, at),
            _ => {}
        }
    }

    fn enlarge(&mut self, source: &Source, at: usize) {
        if source.text(at).len() > TEXT_MAX || source.function(at).is_none() {
            return;
        }
        for operand in source.named(at) {
            let larger = self.larger.entry(source.text(operand).to_owned()).or_default();
            if larger.len() < LARGER_MAX && !larger.iter().any(|one| source.text(*one) == source.text(at)) {
                larger.push(at);
            }
        }
    }

    fn field(&mut self, source: &Source, at: usize) {
        let Some(name) = source.child(at, "field").map(|node| source.text(node).to_owned()) else { return };
        let parent = source.parent(at);
        let changed = matches!(source.kind(parent), "assignment_expression" if &*source.node(at).field == "left")
            || source.kind(parent) == "update_expression";
        if !changed {
            self.read_fields.insert(name);
        } else if !function_name(source, at).contains("init") {
            self.moved_fields.insert(name);
        }
    }
}

fn keep(list: &mut Vec<usize>, source: &Source, at: usize, texts: &mut BTreeSet<String>) {
    let text = source.text(at);
    if text.len() <= TEXT_MAX && list.len() < KEPT_MAX && source.function(at).is_some() && texts.insert(text.to_owned())
    {
        list.push(at);
    }
}

fn note(map: &mut BTreeMap<usize, BTreeSet<String>>, source: &Source, at: usize) {
    if let Some(function) = source.function(at) {
        map.entry(function).or_default().insert(source.text(at).to_owned());
    }
}

fn is_condition(source: &Source, at: usize) -> bool {
    let operator = source.child(at, "operator").map(|node| source.text(node)).unwrap_or_default();
    matches!(operator, "<" | "<=" | ">" | ">=" | "==" | "!=")
}

/// Returns true for a name in the notation of constants: `FRAME_MAX`.
pub(crate) fn is_capitalised(name: &str) -> bool {
    name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the name of the function that contains a node; empty if there is none.
pub(crate) fn function_name(source: &Source, at: usize) -> &str {
    let Some(function) = source.function(at) else { return "" };
    let head = source.inside(function).find(|node| source.kind(*node) == "function_declarator");
    head.and_then(|head| source.child(head, "declarator")).map(|name| source.text(name)).unwrap_or_default()
}
