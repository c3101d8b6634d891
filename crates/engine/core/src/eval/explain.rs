//! Lists the names that a guard reads, with their values, to explain its result.

use interlock_chart::{
    Value,
    expr::{Expr, Node, Root},
    model::{Part, Template},
};

use super::Values;
use crate::{FormulaId, Scope};

/// Returns everything an expression reads, each name once and in the order of the text, with its value. A missing value
/// is `null`.
pub(super) fn explain(values: &Values, formula: FormulaId, scope: &Scope<'_, Value>) -> Vec<(String, Value)> {
    let mut read = Vec::new();
    if let Template::Expr(expr) = &scope.machine.formulas()[formula.index()].template {
        collect(&expr.node, &mut |node| {
            if let Some(named) = look(values, node, scope)
                && !read.contains(&named)
            {
                read.push(named);
            }
        });
    }
    read
}

/// Returns the values that a failing expression of a template read. If a field is missing, the nearest value that exists
/// stands for it, because that value shows what is there instead.
pub(super) fn used(
    values: &Values,
    template: &Template,
    expression: &str,
    scope: &Scope<'_, Value>,
) -> Vec<(String, Value)> {
    let mut read = Vec::new();
    each_expr(template, &mut |expr| {
        if expr.source == expression {
            collect(&expr.node, &mut |node| {
                nearest(values, node, scope).into_iter().for_each(|named| {
                    if !read.contains(&named) {
                        read.push(named);
                    }
                });
            });
        }
    });
    read
}

fn each_expr<'t>(template: &'t Template, see: &mut impl FnMut(&'t Expr)) {
    match template {
        Template::Literal(_) => {}
        Template::Expr(expr) => see(expr),
        Template::Text(parts) => parts.iter().for_each(|part| {
            if let Part::Expr(expr) = part {
                see(expr);
            }
        }),
        Template::List(items) => items.iter().for_each(|item| each_expr(item, see)),
        Template::Map(fields) => fields.iter().for_each(|(_, value)| each_expr(value, see)),
    }
}

fn nearest(values: &Values, node: &Node, scope: &Scope<'_, Value>) -> Vec<(String, Value)> {
    let paths: &[(Root, Vec<String>)] = match node {
        Node::Path(root, path) | Node::Has(root, path) => &[(*root, path.clone())],
        Node::Opaque(paths) => paths,
        _ => return look(values, node, scope).into_iter().collect(),
    };
    let found = |(root, path): &(Root, Vec<String>)| {
        let known = (0..=path.len()).rev().find_map(|length| {
            // The context as a whole is not worth showing: a missing variable is refused when the file is read.
            let path = path.get(..length).filter(|path| *root != Root::Context || !path.is_empty())?;
            Some((written(*root, path)?, find(values, *root, path, scope)?))
        });
        known.or_else(|| Some((written(*root, path)?, Value::Null)))
    };
    paths.iter().filter_map(found).collect()
}

fn collect<'n>(node: &'n Node, see: &mut impl FnMut(&'n Node)) {
    match node {
        Node::Literal(_) => {}
        Node::Path(..) | Node::Has(..) | Node::Visits(_) | Node::Active(_) | Node::Count(_) | Node::Opaque(_) => {
            see(node)
        }
        Node::Unary(_, inner) | Node::Size(inner) | Node::Field(inner, _) => collect(inner, see),
        Node::Binary(_, left, right) | Node::Index(left, right) => {
            [left, right].into_iter().for_each(|inner| collect(inner, see));
        }
        Node::If(cond, then, otherwise) => [cond, then, otherwise].into_iter().for_each(|inner| collect(inner, see)),
        Node::List(items) => items.iter().for_each(|item| collect(item, see)),
        Node::Map(entries) => {
            entries.iter().flat_map(|(key, value)| [key, value]).for_each(|inner| collect(inner, see))
        }
    }
}

fn look(values: &Values, node: &Node, scope: &Scope<'_, Value>) -> Option<(String, Value)> {
    let chart = scope.machine.chart();
    Some(match node {
        Node::Path(root, path) | Node::Has(root, path) => (written(*root, path)?, follow(values, *root, path, scope)),
        Node::Visits(state) => {
            let visits = values.visits[state.index()];
            (format!("state.{}.visits", chart.state(*state).name), i64::from(visits).into())
        }
        Node::Active(state) => {
            (format!("state.{}.active", chart.state(*state).name), scope.configuration.contains(*state).into())
        }
        Node::Count(counter) => {
            let count = scope.counters[counter.index()];
            (format!("count.{}", chart.counters[counter.index()].name), i64::from(count).into())
        }
        Node::Opaque(paths) => {
            let (root, path) = paths.first()?;
            (written(*root, path)?, follow(values, *root, path, scope))
        }
        _ => return None,
    })
}

fn written(root: Root, path: &[String]) -> Option<String> {
    let word = match root {
        Root::Input => "input",
        Root::Context => "context",
        Root::Event => "event",
        Root::EventName => "_event.name",
        Root::Name | Root::SessionId => return None,
    };
    Some(std::iter::once(word).chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("."))
}

fn follow(values: &Values, root: Root, path: &[String], scope: &Scope<'_, Value>) -> Value {
    find(values, root, path, scope).unwrap_or_default()
}

fn find(values: &Values, root: Root, path: &[String], scope: &Scope<'_, Value>) -> Option<Value> {
    let field = |value: Option<Value>, name: &String| value.and_then(|value| value.get(name).cloned());
    match (root, path.split_first()) {
        (Root::Context, Some((name, rest))) => {
            let at = scope.machine.chart().context.iter().position(|variable| variable.name == *name);
            rest.iter().fold(at.and_then(|at| values.context.get(at).cloned()), field)
        }
        (Root::Input, _) => path.iter().fold(Some(values.input.clone()), field),
        (Root::Event, _) => path.iter().fold(scope.event.map(|event| event.data.clone()), field),
        (Root::EventName, _) => scope.event.map(|event| event.key.name(scope.machine).into()),
        _ => None,
    }
}
