//! Lowered formulas: names are resolved to slots, and constants are built once.

use std::sync::Arc;

use interlock_chart::{
    Chart, Value,
    expr::{Binary, Expr, Node, Root, Unary},
    model::{CounterId, Part, StateId, Template, VarId},
};

use super::cel::{CelProgram, is_endless};

/// The code that the engine evaluates.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    Const(Value),
    /// A root and the fields to follow from it.
    Path(Slot, Box<[Arc<str>]>),
    /// True if the last field exists.
    Has(Slot, Box<[Arc<str>]>),
    Visits(StateId),
    Active(StateId),
    Count(CounterId),
    Not(Box<Code>),
    Negate(Box<Code>),
    And(Box<Code>, Box<Code>),
    Or(Box<Code>, Box<Code>),
    Compare(Binary, Box<Code>, Box<Code>),
    Arithmetic(Binary, Box<Code>, Box<Code>),
    In(Box<Code>, Box<Code>),
    If(Box<Code>, Box<Code>, Box<Code>),
    Index(Box<Code>, Box<Code>),
    Field(Box<Code>, Arc<str>),
    List(Box<[Code]>),
    Map(Box<[(Code, Code)]>),
    Size(Box<Code>),
    /// An expression inside a template; a fault in it names the expression.
    Named(Arc<str>, Box<Code>),
    /// A string with values inserted.
    Text(Box<[Code]>),
    Cel(Box<CelProgram>),
}

/// The root at which a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Input,
    /// One variable of the context: the first field of the path, resolved.
    Variable(VarId),
    /// The whole context as a map.
    Context,
    Event,
    EventName,
    Name,
    Session,
}

impl Code {
    pub(crate) fn lower(template: &Template, chart: &Chart) -> Code {
        match template {
            // The caller knows the single expression of the formula, so a fault need not name it.
            Template::Expr(expr) => Code::of_expr(expr, chart),
            _ => Code::inside(template, chart),
        }
    }

    /// Lowers a part of a template.
    fn inside(template: &Template, chart: &Chart) -> Code {
        match template {
            Template::Literal(value) => Code::Const(value.clone()),
            Template::Expr(expr) => Code::named(expr, chart),
            Template::Text(parts) => Code::Text(parts.iter().map(|part| Code::of_part(part, chart)).collect()),
            Template::List(items) => Code::List(items.iter().map(|item| Code::inside(item, chart)).collect()),
            Template::Map(fields) => Code::Map(
                (fields.iter())
                    .map(|(name, value)| (Code::Const(name.as_str().into()), Code::inside(value, chart)))
                    .collect(),
            ),
        }
    }

    fn of_part(part: &Part, chart: &Chart) -> Code {
        match part {
            Part::Text(text) => Code::Const(text.as_str().into()),
            Part::Expr(expr) => Code::named(expr, chart),
        }
    }

    fn named(expr: &Expr, chart: &Chart) -> Code {
        Code::Named(expr.source.as_str().into(), Box::new(Code::of_expr(expr, chart)))
    }

    fn of_expr(expr: &Expr, chart: &Chart) -> Code {
        match &expr.node {
            node if needs_crate(node) => Code::Cel(Box::new(CelProgram::new(&expr.source))),
            node => Code::of_node(node, chart),
        }
    }

    fn of_node(node: &Node, chart: &Chart) -> Code {
        let lower = |node: &Node| Box::new(Code::of_node(node, chart));
        match node {
            Node::Literal(value) => Code::Const(value.clone()),
            Node::Path(root, fields) => slot(*root, fields, chart, Code::Path),
            Node::Has(root, fields) => slot(*root, fields, chart, Code::Has),
            Node::Visits(state) => Code::Visits(*state),
            Node::Active(state) => Code::Active(*state),
            Node::Count(counter) => Code::Count(*counter),
            Node::Unary(Unary::Not, operand) => Code::Not(lower(operand)),
            Node::Unary(Unary::Negate, operand) => Code::Negate(lower(operand)),
            Node::Binary(operator, left, right) => binary(*operator, lower(left), lower(right)),
            Node::If(cond, then, otherwise) => Code::If(lower(cond), lower(then), lower(otherwise)),
            Node::Index(operand, at) => Code::Index(lower(operand), lower(at)),
            Node::Field(operand, name) => Code::Field(lower(operand), name.as_str().into()),
            Node::List(items) => list(items.iter().map(|item| Code::of_node(item, chart)).collect()),
            Node::Map(entries) => Code::Map(
                (entries.iter()).map(|(key, value)| (Code::of_node(key, chart), Code::of_node(value, chart))).collect(),
            ),
            Node::Size(operand) => Code::Size(lower(operand)),
            // `of_expr` handles opaque expressions before this point.
            Node::Opaque(_) => Code::Cel(Box::new(CelProgram::new(""))),
        }
    }
}

/// Collects the expressions of a template that exceed the step budget with any data.
pub(super) fn endless<'t>(template: &'t Template, found: &mut Vec<&'t Expr>) {
    let mut look = |expr: &'t Expr| {
        if needs_crate(&expr.node) && is_endless(&expr.source) {
            found.push(expr);
        }
    };
    match template {
        Template::Literal(_) => {}
        Template::Expr(expr) => look(expr),
        Template::Text(parts) => {
            for part in parts {
                if let Part::Expr(expr) = part {
                    look(expr);
                }
            }
        }
        Template::List(items) => items.iter().for_each(|item| endless(item, found)),
        Template::Map(fields) => fields.iter().for_each(|(_, value)| endless(value, found)),
    }
}

/// Folds a list of constants into one constant, so that it is built only once.
fn list(items: Box<[Code]>) -> Code {
    let constants: Option<Arc<[Value]>> = (items.iter())
        .map(|item| match item {
            Code::Const(value) => Some(value.clone()),
            _ => None,
        })
        .collect();
    constants.map_or(Code::List(items), |items| Code::Const(Value::List(items)))
}

/// Returns true if the `cel` crate must evaluate the expression. This holds for an opaque expression, and for one that
/// builds a map whose keys may not be strings: machines cannot carry such a map, but an expression may use one in
/// between.
fn needs_crate(node: &Node) -> bool {
    match node {
        Node::Opaque(_) => true,
        Node::Literal(_) | Node::Path(..) | Node::Has(..) | Node::Visits(_) | Node::Active(_) | Node::Count(_) => false,
        Node::Unary(_, operand) | Node::Field(operand, _) | Node::Size(operand) => needs_crate(operand),
        Node::Binary(_, left, right) | Node::Index(left, right) => needs_crate(left) || needs_crate(right),
        Node::If(cond, then, otherwise) => [cond, then, otherwise].into_iter().any(|part| needs_crate(part)),
        Node::List(items) => items.iter().any(needs_crate),
        Node::Map(entries) => (entries.iter())
            .any(|(key, value)| !matches!(key, Node::Literal(Value::Str(_))) || needs_crate(key) || needs_crate(value)),
    }
}

fn binary(operator: Binary, left: Box<Code>, right: Box<Code>) -> Code {
    match operator {
        Binary::And => Code::And(left, right),
        Binary::Or => Code::Or(left, right),
        Binary::In => Code::In(left, right),
        Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual => Code::Compare(operator, left, right),
        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
            Code::Arithmetic(operator, left, right)
        }
    }
}

/// Resolves the first field of a context path to its variable.
fn slot(root: Root, fields: &[String], chart: &Chart, make: fn(Slot, Box<[Arc<str>]>) -> Code) -> Code {
    let shared = |fields: &[String]| fields.iter().map(|field| field.as_str().into()).collect();
    match root {
        Root::Context => {
            let var = fields.first().and_then(|name| chart.context.iter().position(|var| var.name == *name));
            match var {
                Some(var) => make(Slot::Variable(VarId::at(var)), shared(&fields[1..])),
                None => make(Slot::Context, shared(fields)),
            }
        }
        Root::Input => make(Slot::Input, shared(fields)),
        Root::Event => make(Slot::Event, shared(fields)),
        Root::EventName => make(Slot::EventName, shared(fields)),
        Root::Name => make(Slot::Name, shared(fields)),
        Root::SessionId => make(Slot::Session, shared(fields)),
    }
}
