//! Builds a question from the `with` data that a machine passes to a judgement.

use interlock_activity::StandIn;
use interlock_journal::{EvidenceStore, Hash};
use serde_json::{Map, Value};

use crate::{
    AllowedSignal, Exhibit, Question, author, mode,
    prompt::{self, Mark},
};

/// Fields of `with` that configure the judgement and are not facts.
const OURS: [&str; 6] = ["prompt", "schema", "tools", "conversation", mode::FIELD, author::FIELD];

/// The maximum number of stored evidence items shown to a judge.
const KEPT_MAX: usize = 16;

/// The maximum size of a stored evidence item that is shown.
const KEPT_BYTES_MAX: usize = 512 * 1024;

/// Builds the question of an activity. The error text names the invalid field of the machine's input.
pub(crate) fn question(of: &StandIn<'_>, mark: &Mark) -> Result<Question, String> {
    let Value::Object(with) = Value::from(of.with) else { return Err("`with` must be a map".to_owned()) };
    let named = |name: &str| match with.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(path)) => Ok(Some(path.as_str())),
        Some(other) => Err(format!("`with.{name}` must be the path of a file of the machine, not {other}")),
    };
    let file = |name: &str, path: &str| {
        let content = of.invocation.definition.file(path);
        let content = content.ok_or_else(|| format!("`with.{name}`: the machine has no file {path}"))?;
        std::str::from_utf8(content).map_err(|_| format!("`with.{name}`: {path} is not text"))
    };
    let path = named("prompt")?.ok_or("`with.prompt` is missing: the path of a file of the machine")?;
    let template = file("prompt", path)?;
    let schema = match named("schema")? {
        Some(path) => {
            serde_json::from_str(file("schema", path)?).map_err(|error| format!("`with.schema`: {path}: {error}"))?
        }
        None => Value::Null,
    };
    let facts: Map<String, Value> = with
        .iter()
        .filter(|(name, _)| !OURS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut facts = Value::Object(facts);
    of.evidence.redactor().json(&mut facts);
    let prompt = prompt::render(path, template, &facts, mark)?;
    let signals = of.invocation.signals.iter();
    let signals = signals.map(|taken| AllowedSignal { name: taken.name.clone(), data: taken.data.clone() }).collect();
    let evidence = exhibits(&facts, of.evidence);
    Ok(Question { prompt, evidence, schema, signals, facts })
}

/// Returns every fact under its name, followed by the stored evidence that the facts refer to by hash.
fn exhibits(facts: &Value, store: &EvidenceStore) -> Vec<Exhibit> {
    let fields = facts.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let mut exhibits: Vec<Exhibit> = fields.map(|(name, value)| fact(name, value)).collect();
    let mut refs = Vec::new();
    referred(facts, &mut refs);
    let kept = refs.into_iter().filter_map(|id| kept(id, store)).take(KEPT_MAX);
    exhibits.extend(kept);
    exhibits
}

fn fact(name: &str, value: &Value) -> Exhibit {
    let (media_type, text) = match value {
        Value::String(text) => ("text/plain", text.clone()),
        other => ("application/json", prompt::records(other)),
    };
    Exhibit { id: name.to_owned(), name: name.to_owned(), media_type: media_type.to_owned(), text }
}

/// Collects the strings in lists named `evidence_refs`, each once.
pub(crate) fn referred<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Array(items) if name == "evidence_refs" => {
                        let ids = items.iter().filter_map(Value::as_str);
                        ids.for_each(|id| {
                            if !into.contains(&id) {
                                into.push(id)
                            }
                        });
                    }
                    other => referred(other, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| referred(item, into)),
        _ => {}
    }
}

/// Loads the evidence stored under a hash. `None` if it is missing, too large or not text.
fn kept(id: &str, store: &EvidenceStore) -> Option<Exhibit> {
    let bytes = store.get(&Hash::from_hex(id)?).ok().filter(|bytes| bytes.len() <= KEPT_BYTES_MAX)?;
    let text = String::from_utf8(bytes).ok()?;
    let is_json = serde_json::from_str::<Value>(&text).is_ok_and(|value| value.is_object() || value.is_array());
    let media_type = if is_json { "application/json" } else { "text/plain" };
    let text = store.redactor().text(&text).into_owned();
    Some(Exhibit { id: id.to_owned(), name: format!("evidence {id}"), media_type: media_type.to_owned(), text })
}
