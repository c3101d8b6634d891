//! Lists the names that a guard reads, with their values, to explain its result.

use interlock_chart::{
    Value,
    expr::{Node, Root},
    model::Template,
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
    let field = |value: Option<Value>, name: &String| value.and_then(|value| value.get(name).cloned());
    let found = match (root, path.split_first()) {
        (Root::Context, Some((name, rest))) => {
            let at = scope.machine.chart().context.iter().position(|variable| variable.name == *name);
            rest.iter().fold(at.and_then(|at| values.context.get(at).cloned()), field)
        }
        (Root::Input, _) => path.iter().fold(Some(values.input.clone()), field),
        (Root::Event, _) => path.iter().fold(scope.event.map(|event| event.data.clone()), field),
        (Root::EventName, _) => scope.event.map(|event| event.key.name(scope.machine).into()),
        _ => None,
    };
    found.unwrap_or_default()
}
