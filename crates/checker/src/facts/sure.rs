//! Expressions that certainly evaluate, and the kind of their values.
//!
//! The runtime checks everything that enters a run against the schemas, so a field that a schema requires exists and
//! has its type. If an expression cannot be shown to evaluate, it may fail: the checker then also explores the
//! `error.execution` that follows.

use std::collections::BTreeMap;

use interlock_chart::{
    Chart, Value,
    expr::{Binary, Expr, Node, Root, Unary},
    model::{Action, Part, Schema, Template, VarId},
};

use super::schema;

/// The guarantee about an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    /// The evaluation may fail.
    No,
    /// It has a value of some kind.
    Any,
    Bool,
    Number,
    Text,
    List,
    Map,
}

/// Answers these questions for one chart.
#[derive(Debug)]
pub(super) struct Certainty<'c> {
    chart: &'c Chart,
    /// Per variable, and per field of variables that begin as maps: the kind of value it always has.
    fields: BTreeMap<Vec<String>, Sure>,
}

impl<'c> Certainty<'c> {
    pub(super) fn of(chart: &'c Chart) -> Self {
        let mut fields = BTreeMap::new();
        for variable in &chart.context {
            begin(&mut fields, vec![variable.name.clone()], &variable.initial);
        }
        let mut certainty = Certainty { chart, fields };
        // An assignment of another kind removes the guarantee, which may remove others; one pass per field is enough.
        for _ in 0..=certainty.fields.len() {
            for (var, value, events) in assignments(chart) {
                certainty.weaken(&chart.context[var.index()].name, value, &events);
            }
        }
        certainty
    }

    fn weaken(&mut self, var: &str, value: &Template, events: &[&Schema]) {
        let paths: Vec<Vec<String>> = self.fields.keys().filter(|path| path[0] == *var).cloned().collect();
        for path in paths {
            let kind = match super::inside(value, &path[1..]) {
                Some(super::Piece::Value(value)) => literal(&value),
                Some(super::Piece::Node(node, rest)) if rest.is_empty() => self.node(node, events),
                Some(super::Piece::Node(Node::Path(root, from), rest)) => {
                    self.path(*root, &[&from[..], &rest[..]].concat(), events)
                }
                None if path.len() == 1 => self.template(value, events),
                _ => Sure::No,
            };
            // If the assignment itself fails, the variable keeps its value.
            let kind = if kind == Sure::No && path.len() == 1 { Sure::Any } else { kind };
            self.fields.entry(path).and_modify(|known| *known = both(*known, kind));
        }
    }

    /// Returns true if the template certainly evaluates when one of these events is handled.
    pub(super) fn evaluates(&self, template: &Template, events: &[&Schema]) -> bool {
        self.template(template, events) != Sure::No
    }

    pub(super) fn template(&self, template: &Template, events: &[&Schema]) -> Sure {
        let all = |sure: bool, kind: Sure| if sure { kind } else { Sure::No };
        match template {
            Template::Literal(value) => literal(value),
            Template::Expr(expr) => self.expr(expr, events),
            Template::Text(parts) => {
                let is_sure = |part: &Part| match part {
                    Part::Text(_) => true,
                    Part::Expr(expr) => self.expr(expr, events) != Sure::No,
                };
                all(parts.iter().all(is_sure), Sure::Text)
            }
            Template::List(items) => all(items.iter().all(|item| self.evaluates(item, events)), Sure::List),
            Template::Map(fields) => all(fields.iter().all(|(_, value)| self.evaluates(value, events)), Sure::Map),
        }
    }

    pub(super) fn expr(&self, expr: &Expr, events: &[&Schema]) -> Sure {
        self.node(&expr.node, events)
    }

    /// The kind of a path's value.
    pub(super) fn path(&self, root: Root, path: &[String], events: &[&Schema]) -> Sure {
        match root {
            Root::Input => field(&self.chart.input, path),
            Root::Context => self.variable(path),
            Root::Event if path.is_empty() => Sure::Map,
            Root::Event if events.is_empty() => Sure::No,
            Root::Event => {
                let kinds = events.iter().map(|schema| field(schema, path));
                kinds.reduce(|a, b| if a == b { a } else { both(a, b) }).unwrap_or(Sure::No)
            }
            Root::EventName | Root::Name | Root::SessionId if path.is_empty() => Sure::Text,
            Root::EventName | Root::Name | Root::SessionId => Sure::No,
        }
    }

    fn variable(&self, path: &[String]) -> Sure {
        if path.is_empty() { Sure::Map } else { self.fields.get(path).copied().unwrap_or(Sure::No) }
    }

    fn node(&self, node: &Node, events: &[&Schema]) -> Sure {
        let sure = |node: &Node| self.node(node, events);
        match node {
            Node::Literal(value) => literal(value),
            Node::Path(root, path) => self.path(*root, path, events),
            Node::Visits(_) | Node::Count(_) => Sure::Number,
            Node::Active(_) => Sure::Bool,
            Node::Has(root, path) => {
                let holder = path.split_last().map_or(&[][..], |(_, before)| before);
                if self.path(*root, holder, events) == Sure::Map { Sure::Bool } else { Sure::No }
            }
            Node::Unary(Unary::Not, operand) if sure(operand) == Sure::Bool => Sure::Bool,
            Node::Binary(operator, left, right) => binary(*operator, sure(left), sure(right)),
            Node::If(cond, then, otherwise) if sure(cond) == Sure::Bool => both(sure(then), sure(otherwise)),
            Node::List(items) if items.iter().all(|item| sure(item) != Sure::No) => Sure::List,
            Node::Map(entries) => {
                let is_sure = |(key, value): &(Node, Node)| sure(key) == Sure::Text && sure(value) != Sure::No;
                if entries.iter().all(is_sure) { Sure::Map } else { Sure::No }
            }
            Node::Size(operand) if matches!(sure(operand), Sure::Text | Sure::List | Sure::Map) => Sure::Number,
            // Arithmetic may overflow, an index may be out of range, a function may fail.
            _ => Sure::No,
        }
    }
}

/// The greatest depth to which fields are followed.
const DEPTH_MAX: usize = 4;

fn begin(fields: &mut BTreeMap<Vec<String>, Sure>, path: Vec<String>, template: &Template) {
    let kind = match template {
        Template::Literal(value) => literal(value),
        _ => Sure::Any,
    };
    if let (Template::Literal(Value::Map(inner)), true) = (template, path.len() < DEPTH_MAX) {
        for (name, value) in inner.iter() {
            let path = path.iter().cloned().chain([name.to_string()]).collect();
            begin(fields, path, &Template::Literal(value.clone()));
        }
    }
    fields.insert(path, kind);
}

fn both(a: Sure, b: Sure) -> Sure {
    match (a, b) {
        (Sure::No, _) | (_, Sure::No) => Sure::No,
        (a, b) if a == b => a,
        _ => Sure::Any,
    }
}

fn binary(operator: Binary, left: Sure, right: Sure) -> Sure {
    let is_fine = match operator {
        Binary::And | Binary::Or => left == Sure::Bool && right == Sure::Bool,
        Binary::Equal | Binary::NotEqual => left != Sure::No && right != Sure::No,
        Binary::In => left != Sure::No && matches!(right, Sure::List | Sure::Map),
        Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
            left == right && matches!(left, Sure::Number | Sure::Text)
        }
        Binary::Add if left == right && matches!(left, Sure::Text | Sure::List) => return left,
        _ => false,
    };
    if is_fine { Sure::Bool } else { Sure::No }
}

fn literal(value: &Value) -> Sure {
    match value {
        Value::Null => Sure::Any,
        Value::Bool(_) => Sure::Bool,
        Value::Int(_) | Value::Float(_) => Sure::Number,
        Value::Str(_) => Sure::Text,
        Value::List(_) => Sure::List,
        Value::Map(_) => Sure::Map,
    }
}

fn field(of: &Schema, path: &[String]) -> Sure {
    if !schema::requires(of, path) {
        return Sure::No;
    }
    match schema::at(of, path).and_then(schema::kind) {
        Some("boolean") => Sure::Bool,
        Some("integer" | "number") => Sure::Number,
        Some("string") => Sure::Text,
        Some("array") => Sure::List,
        Some("object") => Sure::Map,
        _ if schema::at(of, path).is_some_and(|at| at.get("properties").is_some()) => Sure::Map,
        _ if schema::at(of, path).and_then(schema::listed).is_some() => Sure::Text,
        _ => Sure::Any,
    }
}

/// Every assignment of a chart, with the schemas of the events on which it may happen.
fn assignments(chart: &Chart) -> Vec<(VarId, &Template, Vec<&Schema>)> {
    let mut found = Vec::new();
    for transition in &chart.transitions {
        collect(&transition.actions, &super::events_of(chart, transition), &mut found);
    }
    for state in &chart.states {
        // Entry, exit and initial content may happen on any event.
        for block in state.entry.iter().chain(&state.exit).chain(state.initial.as_ref().map(|initial| &initial.actions))
        {
            collect(block, &[], &mut found);
        }
    }
    found
}

fn collect<'c>(block: &'c [Action], events: &[&'c Schema], into: &mut Vec<(VarId, &'c Template, Vec<&'c Schema>)>) {
    for action in block {
        match action {
            Action::Assign { var, value } => into.push((*var, value, events.to_vec())),
            Action::If { branches } => branches.iter().for_each(|(_, block)| collect(block, events, into)),
            Action::Raise { .. } | Action::Send { .. } | Action::Cancel { .. } | Action::Log { .. } => {}
        }
    }
}
