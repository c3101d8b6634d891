//! Converts actions and templates back to the notation of a machine file.

use serde_json::Value as Json;

use super::{is_empty, names};
use crate::{
    Chart,
    expr::Expr,
    file::{ActionFile, Ordered, RaiseFile, SendFile},
    model::{Action, Block, Initial, Part, Template},
    yaml::template::escape,
};

/// Returns the target names of an initial transition, and its actions.
pub(super) fn initial(chart: &Chart, from: &Initial) -> (Vec<String>, Vec<ActionFile>) {
    (names(chart, &from.targets), block(chart, &from.actions))
}

/// Returns a block of actions.
pub fn block(chart: &Chart, actions: &Block) -> Vec<ActionFile> {
    actions.iter().flat_map(|action| self::action(chart, action)).collect()
}

fn action(chart: &Chart, action: &Action) -> Vec<ActionFile> {
    vec![match action {
        Action::Assign { var, value } => {
            let name = chart.context[var.index()].name.clone();
            ActionFile::Assign { assign: Ordered::from([(name, template(value))]) }
        }
        Action::Raise { event, data } => ActionFile::Raise { raise: raise(event.clone(), data) },
        Action::Send { event, data, delay, id } => ActionFile::Send {
            send: SendFile {
                event: template_text(event),
                data: (!is_empty(data)).then(|| template(data)),
                delay: delay.as_ref().map(template_text),
                id: id.clone(),
            },
        },
        Action::Cancel { id } => ActionFile::Cancel { cancel: template_text(id) },
        Action::Log { text } => ActionFile::Log { log: template_text(text) },
        Action::If { branches } => return conditional(chart, branches),
    }]
}

fn raise(event: String, data: &Template) -> RaiseFile {
    if is_empty(data) { RaiseFile::Name(event) } else { RaiseFile::Full { event, data: template(data) } }
}

/// Branches nest in `else`. A first branch without a condition is just its actions.
fn conditional(chart: &Chart, branches: &[(Option<Expr>, Block)]) -> Vec<ActionFile> {
    let mut otherwise = Vec::new();
    for (cond, actions) in branches.iter().rev() {
        let then = block(chart, actions);
        otherwise = match cond {
            Some(cond) => vec![ActionFile::If { cond: cond.source.clone(), then, otherwise }],
            None => then,
        };
    }
    otherwise
}

/// Returns a template as a value of the file.
pub fn template(from: &Template) -> Json {
    match from {
        Template::Literal(value) => escaped(Json::from(value)),
        Template::Expr(expr) => Json::String(in_braces(expr)),
        Template::Text(parts) => Json::String(parts.iter().map(part).collect()),
        Template::List(items) => items.iter().map(template).collect(),
        Template::Map(fields) => fields.iter().map(|(name, value)| (name.clone(), template(value))).collect(),
    }
}

/// A literal value whose strings cannot be taken for templates.
pub fn escaped(value: Json) -> Json {
    match value {
        Json::String(text) => Json::String(escaped_text(&text)),
        Json::Array(items) => items.into_iter().map(escaped).collect(),
        Json::Object(fields) => fields.into_iter().map(|(name, value)| (name, escaped(value))).collect(),
        other => other,
    }
}

/// A literal text that cannot be taken for a template.
pub fn escaped_text(text: &str) -> String {
    escape(text)
}

/// A template where the file wants a string.
pub fn template_text(from: &Template) -> String {
    match template(from) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => escaped_text(text),
        Part::Expr(expr) => in_braces(expr),
    }
}

fn in_braces(expr: &Expr) -> String {
    format!("${{{}}}", expr.source)
}
