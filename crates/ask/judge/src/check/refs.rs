//! Evidence references: an answer may refer only to evidence that was shown.

use serde_json::{Map, Value};

use super::{Problem, kind, short};
use crate::Question;

const NAME: &str = "evidence_refs";

/// Checks the references of the answer itself. If evidence was shown, at least one reference is required: a verdict
/// must rest on evidence.
pub(super) fn top(fields: &Map<String, Value>, question: &Question, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(value) = fields.get(NAME) else { return Vec::new() };
    let Value::Array(items) = value else {
        problems.push(Problem::new(NAME, format!("must be a list of ids, not {}", kind(value))));
        return Vec::new();
    };
    if items.is_empty() && !question.evidence.is_empty() {
        problems.push(Problem::new(NAME, format!("is empty; name the evidence for the verdict: {}", known(question))));
    }
    items.iter().enumerate().filter_map(|(at, item)| one(item, question, &format!("{NAME}[{at}]"), problems)).collect()
}

/// Checks references anywhere in the data.
pub(super) fn within(value: &Value, question: &Question, path: &str, problems: &mut Vec<Problem>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                match value {
                    Value::Array(items) if name == NAME => {
                        for (at, item) in items.iter().enumerate().filter(|(_, item)| item.is_string()) {
                            one(item, question, &format!("{path}[{at}]"), problems);
                        }
                    }
                    _ => within(value, question, &path, problems),
                }
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| within(item, question, &format!("{path}[{at}]"), problems));
        }
        _ => {}
    }
}

fn one(item: &Value, question: &Question, path: &str, problems: &mut Vec<Problem>) -> Option<String> {
    match item.as_str().filter(|id| question.exhibit(id).is_some()) {
        Some(id) => Some(id.to_owned()),
        None => {
            problems.push(Problem::new(
                path,
                format!("is not one of the given ids: {}; the ids are {}", short(item), known(question)),
            ));
            None
        }
    }
}

fn known(question: &Question) -> String {
    let ids: Vec<&str> = question.evidence.iter().map(|exhibit| exhibit.id.as_str()).collect();
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}
