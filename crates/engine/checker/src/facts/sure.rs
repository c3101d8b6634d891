//! Expressions that certainly evaluate, and the kind of their values.
//!
//! The runtime checks everything that enters a run against the schemas, so a field that a schema requires exists and
//! has its type. If an expression cannot be shown to evaluate, it may fail: the checker then also explores the
//! `error.execution` that follows.

use std::collections::BTreeMap;

use interlock_chart::{
    Chart, Value,
    expr::{Binary, Node, Root, Unary},
    model::{Action, Part, Schema, Template, VarId},
};

use super::{events::Events, schema};

/// The guarantee about an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    /// The evaluation may fail.
    No,
    /// It has a value of some kind.
    Any,
    Bool,
    Number,
    /// A whole number far from overflow: a counter, a number of visits, a small literal.
    Small,
    Text,
    List,
    Map,
}

/// Answers these questions for one chart.
#[derive(Debug)]
pub(super) struct Certainty<'c> {
    chart: &'c Chart,
    pub(super) events: &'c Events<'c>,
    /// Per variable, and per field of variables that begin as maps: the kind of value it always has.
    fields: BTreeMap<Vec<String>, Sure>,
    /// True if sums and differences of numbers count as certain, although they may overflow.
    is_lenient: bool,
}

impl<'c> Certainty<'c> {
    pub(super) fn of(chart: &'c Chart, events: &'c Events<'c>) -> Self {
        let mut fields = BTreeMap::new();
        for variable in &chart.context {
            begin(&mut fields, vec![variable.name.clone()], &variable.initial);
        }
        let mut certainty = Certainty { chart, events, fields, is_lenient: false };
        // An assignment of another kind removes the guarantee, which may remove others; one pass per field is enough.
        for _ in 0..=certainty.fields.len() {
            for (var, value, events, found) in assignments(chart, events) {
                certainty.weaken(&chart.context[var.index()].name, value, &events, &found);
            }
        }
        certainty
    }

    /// The same answers for people: that a number may overflow is not worth a warning.
    pub(super) fn lenient(self) -> Self {
        Certainty { is_lenient: true, ..self }
    }

    fn weaken(&mut self, var: &str, value: &Template, events: &[&Schema], found: &Found<'_>) {
        let paths: Vec<Vec<String>> = self.fields.keys().filter(|path| path[0] == *var).cloned().collect();
        for path in paths {
            let kind = match super::inside(value, &path[1..]) {
                Some(super::Piece::Value(value)) => literal(&value),
                // If the assignment itself fails, the variable keeps its value.
                Some(super::Piece::Node(node, rest)) if rest.is_empty() => self.result(node, events, found),
                Some(super::Piece::Node(Node::Path(root, from), rest)) => {
                    self.present(*root, &[&from[..], &rest[..]].concat(), events, found)
                }
                None if let Some(inner) = at(value, &path[1..]) => self.assigned(inner, events, found),
                _ if path.len() == 1 => Sure::Any,
                _ => Sure::No,
            };
            self.fields.entry(path).and_modify(|known| *known = both(*known, kind));
        }
    }

    /// Returns true if the template certainly evaluates when one of these events is handled and these paths exist.
    pub(super) fn evaluates(&self, template: &Template, events: &[&Schema], found: &Found<'_>) -> bool {
        self.template(template, events, found) != Sure::No
    }

    pub(super) fn template(&self, template: &Template, events: &[&Schema], found: &Found<'_>) -> Sure {
        let all = |sure: bool, kind: Sure| if sure { kind } else { Sure::No };
        match template {
            Template::Literal(value) => literal(value),
            Template::Expr(expr) => self.node(&expr.node, events, found),
            Template::Text(parts) => {
                let is_sure = |part: &Part| match part {
                    Part::Text(_) => true,
                    Part::Expr(expr) => self.node(&expr.node, events, found) != Sure::No,
                };
                all(parts.iter().all(is_sure), Sure::Text)
            }
            Template::List(items) => all(items.iter().all(|item| self.evaluates(item, events, found)), Sure::List),
            Template::Map(fields) => {
                all(fields.iter().all(|(_, value)| self.evaluates(value, events, found)), Sure::Map)
            }
        }
    }

    /// The kind of a path's value.
    pub(super) fn path(&self, root: Root, path: &[String], events: &[&Schema]) -> Sure {
        self.present(root, path, events, &Vec::new())
    }

    /// The kind of a path's value where `has()` has found these paths.
    fn present(&self, root: Root, path: &[String], events: &[&Schema], found: &Found<'_>) -> Sure {
        match root {
            Root::Input => field(&self.chart.input, path, root, found),
            Root::Context => self.variable(path, found),
            Root::Event if path.is_empty() => Sure::Map,
            Root::Event if events.is_empty() => {
                if found.contains(&(root, path)) {
                    Sure::Any
                } else {
                    Sure::No
                }
            }
            Root::Event => {
                let kinds = events.iter().map(|schema| field(schema, path, root, found));
                kinds.reduce(|a, b| if a == b { a } else { both(a, b) }).unwrap_or(Sure::No)
            }
            Root::EventName | Root::Name | Root::SessionId if path.is_empty() => Sure::Text,
            Root::EventName | Root::Name | Root::SessionId => Sure::No,
        }
    }

    fn variable(&self, path: &[String], found: &Found<'_>) -> Sure {
        let is_found = || found.contains(&(Root::Context, path));
        match self.fields.get(path).copied() {
            _ if path.is_empty() => Sure::Map,
            Some(kind) if kind != Sure::No => kind,
            _ if is_found() => Sure::Any,
            _ => Sure::No,
        }
    }

    fn node(&self, node: &Node, events: &[&Schema], found: &Found<'_>) -> Sure {
        let sure = |node: &Node| self.node(node, events, found);
        match node {
            Node::Path(root, path) => self.present(*root, path, events, found),
            Node::Visits(_) | Node::Count(_) => Sure::Small,
            Node::Literal(Value::Int(small)) if small.unsigned_abs() <= u64::from(u32::MAX) => Sure::Small,
            Node::Literal(value) => literal(value),
            Node::Active(_) => Sure::Bool,
            Node::Has(root, path) => {
                let holder = path.split_last().map_or(&[][..], |(_, before)| before);
                if self.present(*root, holder, events, found) == Sure::Map { Sure::Bool } else { Sure::No }
            }
            Node::Unary(Unary::Not, operand) if sure(operand) == Sure::Bool => Sure::Bool,
            // The right side counts only if the left side is true (`&&`) or false (`||`).
            Node::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let after = [&found[..], &finds(left, *operator == Binary::And)].concat();
                self.binary(*operator, sure(left), self.node(right, events, &after))
            }
            Node::Binary(operator, left, right) => self.binary(*operator, sure(left), sure(right)),
            Node::If(cond, then, otherwise) if sure(cond) == Sure::Bool => {
                let side =
                    |node: &Node, answer: bool| self.node(node, events, &[&found[..], &finds(cond, answer)].concat());
                both(side(then, true), side(otherwise, false))
            }
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

impl Certainty<'_> {
    fn binary(&self, operator: Binary, left: Sure, right: Sure) -> Sure {
        let is_number = |side: Sure| matches!(side, Sure::Number | Sure::Small);
        let is_fine = match operator {
            Binary::And | Binary::Or => left == Sure::Bool && right == Sure::Bool,
            Binary::Equal | Binary::NotEqual => left != Sure::No && right != Sure::No,
            Binary::In => left != Sure::No && matches!(right, Sure::List | Sure::Map),
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
                (is_number(left) && is_number(right)) || (left == Sure::Text && right == Sure::Text)
            }
            // The result is not small: repeated, it could overflow.
            Binary::Add | Binary::Subtract if left == Sure::Small && right == Sure::Small => return Sure::Number,
            Binary::Add | Binary::Subtract if self.is_lenient && is_number(left) && is_number(right) => {
                return Sure::Number;
            }
            Binary::Add if left == right && matches!(left, Sure::Text | Sure::List) => return left,
            _ => false,
        };
        if is_fine { Sure::Bool } else { Sure::No }
    }

    /// The kind of a value that was assigned, which means that it could be evaluated.
    fn assigned(&self, template: &Template, events: &[&Schema], found: &Found<'_>) -> Sure {
        match (template, self.template(template, events, found)) {
            (Template::Expr(expr), Sure::No) => self.result(&expr.node, events, found),
            (Template::Text(_), _) => Sure::Text,
            (Template::List(_), _) => Sure::List,
            (Template::Map(_), _) => Sure::Map,
            (_, kind) => kind,
        }
    }

    /// The kind of an expression's value, if it could be evaluated.
    fn result(&self, node: &Node, events: &[&Schema], found: &Found<'_>) -> Sure {
        let result = |node: &Node| self.result(node, events, found);
        match (self.node(node, events, found), node) {
            (Sure::No, Node::Binary(Binary::Add, left, right)) => match (result(left), result(right)) {
                (kind @ (Sure::List | Sure::Text), _) | (_, kind @ (Sure::List | Sure::Text)) => kind,
                (Sure::Number | Sure::Small, _) | (_, Sure::Number | Sure::Small) => Sure::Number,
                _ => Sure::Any,
            },
            (Sure::No, Node::Binary(operator, ..)) => match operator {
                Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => Sure::Number,
                _ => Sure::Bool,
            },
            (Sure::No, Node::If(_, then, otherwise)) => both(result(then), result(otherwise)),
            (Sure::No, Node::Has(..) | Node::Unary(Unary::Not, _)) => Sure::Bool,
            (Sure::No, Node::Size(_)) => Sure::Number,
            (Sure::No, _) => Sure::Any,
            (kind, _) => kind,
        }
    }
}

/// Paths that exist, because `has()` has found them.
pub(super) type Found<'n> = Vec<(Root, &'n [String])>;

/// Returns the paths that exist if a condition has this answer.
pub(super) fn finds(cond: &Node, answer: bool) -> Found<'_> {
    match cond {
        Node::Has(root, path) if answer => vec![(*root, path)],
        Node::Unary(Unary::Not, operand) => finds(operand, !answer),
        Node::Binary(Binary::And, left, right) if answer => [finds(left, true), finds(right, true)].concat(),
        Node::Binary(Binary::Or, left, right) if !answer => [finds(left, false), finds(right, false)].concat(),
        _ => Vec::new(),
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

/// Returns the template of a field, if every map on the way to it is written out.
fn at<'t>(template: &'t Template, path: &[String]) -> Option<&'t Template> {
    path.iter().try_fold(template, |template, name| match template {
        Template::Map(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, inner)| inner),
        _ => None,
    })
}

fn both(a: Sure, b: Sure) -> Sure {
    match (a, b) {
        (Sure::No, _) | (_, Sure::No) => Sure::No,
        (a, b) if a == b => a,
        (Sure::Small, Sure::Number) | (Sure::Number, Sure::Small) => Sure::Number,
        _ => Sure::Any,
    }
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

fn field(of: &Schema, path: &[String], root: Root, found: &Found<'_>) -> Sure {
    // If a field exists, everything on the way to it does, so the schema must require only the rest.
    let is_there = |length: usize| {
        let (before, rest) = path.split_at(length);
        let is_found = length == 0 || found.contains(&(root, before));
        is_found && schema::at(of, before).map_or(rest.is_empty(), |inner| schema::requires(inner, rest))
    };
    if !(0..=path.len()).any(is_there) {
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

/// An assignment: the variable, its value, the schemas of the events on which it may happen, and the paths that exist.
type Assignment<'c> = (VarId, &'c Template, Vec<&'c Schema>, Found<'c>);

/// Every assignment of a chart.
fn assignments<'c>(chart: &'c Chart, events: &'c Events<'c>) -> Vec<Assignment<'c>> {
    let mut all = Vec::new();
    for transition in &chart.transitions {
        let found = transition.guard.as_ref().map(|guard| lasting(finds(&guard.node, true))).unwrap_or_default();
        collect(chart, &transition.actions, &events.taken_by(transition), found, &mut all);
    }
    for state in &chart.states {
        // Entry, exit and initial content may happen on any event.
        for block in state.entry.iter().chain(&state.exit).chain(state.initial.as_ref().map(|initial| &initial.actions))
        {
            collect(chart, block, &[], Vec::new(), &mut all);
        }
    }
    all
}

fn collect<'c>(
    chart: &'c Chart,
    block: &'c [Action],
    events: &[&'c Schema],
    mut found: Found<'c>,
    into: &mut Vec<Assignment<'c>>,
) {
    for action in block {
        match action {
            Action::Assign { var, value } => {
                into.push((*var, value, events.to_vec(), found.clone()));
                forget(&mut found, &chart.context[var.index()].name);
            }
            Action::If { branches } => {
                let mut before = found.clone();
                for (cond, block) in branches {
                    let cond = cond.as_ref().map(|cond| &cond.node);
                    collect(chart, block, events, with(&before, cond, true), into);
                    before = with(&before, cond, false);
                }
                // A branch may have assigned anything.
                found = lasting(found);
            }
            Action::Raise { .. } | Action::Send { .. } | Action::Cancel { .. } | Action::Log { .. } => {}
        }
    }
}

/// Adds the paths that exist if a condition has this answer.
pub(super) fn with<'n>(found: &Found<'n>, cond: Option<&'n Node>, answer: bool) -> Found<'n> {
    [found.clone(), cond.map(|cond| finds(cond, answer)).unwrap_or_default()].concat()
}

/// Keeps the paths that no assignment can remove.
pub(super) fn lasting(mut found: Found<'_>) -> Found<'_> {
    found.retain(|(root, _)| *root != Root::Context);
    found
}

/// Drops the paths inside a variable that was assigned.
pub(super) fn forget(found: &mut Found<'_>, var: &str) {
    found.retain(|(root, path)| *root != Root::Context || path.first().is_none_or(|name| name != var));
}
