//! Converts actions and templates back to the notation of a machine file.

use super::super::template::escape;
use crate::{
    file::{ActionFile, BlocksFile, OneOrMany, Ordered, RaiseFile, SendFile},
    model::{Action, Block, Chart, Part, Template},
};
use serde_json::Value as Json;

/// Returns a template as a YAML value.
pub(crate) fn template(value: &Template) -> Json {
    match value {
        Template::Literal(value) => escaped(value.into()),
        Template::Expr(expr) => format!("${{{}}}", expr.source).into(),
        Template::Text(parts) => {
            let part = |part: &Part| match part {
                Part::Text(text) => escape(text),
                Part::Expr(expr) => format!("${{{}}}", expr.source),
            };
            parts.iter().map(part).collect::<String>().into()
        }
        Template::List(items) => items.iter().map(template).collect::<Vec<_>>().into(),
        Template::Map(fields) => {
            Json::Object(fields.iter().map(|(name, value)| (name.clone(), template(value))).collect())
        }
    }
}

/// Returns a template that is text.
pub(crate) fn text(value: &Template) -> String {
    match template(value) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

fn escaped(json: Json) -> Json {
    match json {
        Json::String(text) => escape(&text).into(),
        Json::Array(items) => items.into_iter().map(escaped).collect::<Vec<_>>().into(),
        Json::Object(fields) => Json::Object(fields.into_iter().map(|(name, value)| (name, escaped(value))).collect()),
        other => other,
    }
}

/// Returns a single item bare and several items as a list, or `None` if there are no items.
pub(super) fn many<T>(mut items: Vec<T>) -> Option<OneOrMany<T>> {
    match items.len() {
        0 => None,
        1 => items.pop().map(OneOrMany::One),
        _ => Some(OneOrMany::Many(items)),
    }
}

pub(super) fn blocks(chart: &Chart, list: &[Block]) -> BlocksFile {
    match list {
        [block] => BlocksFile::Block(file_actions(chart, block)),
        several => BlocksFile::Blocks(several.iter().map(|block| file_actions(chart, block)).collect()),
    }
}

/// Returns the leading actions that a transition has keys for, and then the rest.
#[allow(clippy::type_complexity)]
pub(super) fn transition_actions(
    chart: &Chart,
    block: &[Action],
) -> (Ordered<Json>, Option<OneOrMany<RaiseFile>>, Option<OneOrMany<ActionFile>>) {
    let (assign, rest) = leading_assigns(chart, block);
    let raises = rest.iter().map_while(|action| match action {
        Action::Raise { event, data } => Some(raise(event, data)),
        _ => None,
    });
    let raises: Vec<RaiseFile> = raises.collect();
    let actions = file_actions(chart, &rest[raises.len()..]);
    (assign, many(raises), (!actions.is_empty()).then_some(OneOrMany::Many(actions)))
}

/// Returns the assignments at the start of a block, up to the first that would repeat a variable.
fn leading_assigns<'b>(chart: &Chart, block: &'b [Action]) -> (Ordered<Json>, &'b [Action]) {
    let mut assign = Ordered::new();
    let mut taken = 0;
    for action in block {
        let Action::Assign { var, value } = action else { break };
        let name = chart.context[var.index()].name.clone();
        if assign.contains_key(&name) {
            break;
        }
        assign.insert(name, template(value));
        taken += 1;
    }
    (assign, &block[taken..])
}

pub(super) fn file_actions(chart: &Chart, block: &[Action]) -> Vec<ActionFile> {
    let mut files = Vec::new();
    let mut rest = block;
    loop {
        let (assign, after) = leading_assigns(chart, rest);
        if !assign.is_empty() {
            files.push(ActionFile::Assign { assign });
        }
        rest = match after {
            [] => return files,
            // A variable is assigned twice, so the next iteration begins with its second assignment.
            [Action::Assign { .. }, ..] => after,
            [first, more @ ..] => {
                action(chart, first, &mut files);
                more
            }
        };
    }
}

fn action(chart: &Chart, action: &Action, files: &mut Vec<ActionFile>) {
    files.push(match action {
        Action::Assign { .. } => return,
        Action::Raise { event, data } => ActionFile::Raise { raise: raise(event, data) },
        Action::Send { event, data, delay, id } => ActionFile::Send {
            send: SendFile {
                event: text(event),
                data: (*data != Template::empty()).then(|| template(data)),
                delay: delay.as_ref().map(text),
                id: id.clone(),
            },
        },
        Action::Cancel { id } => ActionFile::Cancel { cancel: text(id) },
        Action::Log { text: line } => ActionFile::Log { log: text(line) },
        Action::If { branches } => match conditional(chart, branches) {
            Ok(file) => file,
            Err(unconditional) => return files.extend(unconditional),
        },
    });
}

/// Nests the branches in `else`. A first branch without a condition becomes its actions.
fn conditional(chart: &Chart, branches: &[(Option<crate::expr::Expr>, Block)]) -> Result<ActionFile, Vec<ActionFile>> {
    match branches {
        [] => Err(Vec::new()),
        [(None, block), ..] => Err(file_actions(chart, block)),
        [(Some(guard), block), rest @ ..] => {
            let otherwise = conditional(chart, rest).map_or_else(|block| block, |file| vec![file]);
            Ok(ActionFile::If { cond: guard.source.clone(), then: file_actions(chart, block), otherwise })
        }
    }
}

fn raise(event: &str, data: &Template) -> RaiseFile {
    match *data == Template::empty() {
        true => RaiseFile::Name(event.to_owned()),
        false => RaiseFile::Full { event: event.to_owned(), data: template(data) },
    }
}
