//! Schema transformations: closing objects, inlining references, and reducing a schema to the keywords that every
//! server supports.

use serde_json::{Map, Value, json};

/// The maximum schema depth that is processed; it also ends recursive schemas.
const DEPTH_MAX: usize = 24;

/// Keywords that constrain an object from outside its `properties`. If one is present, `properties` does not list all
/// fields, so the object is not closed.
const BESIDE: [&str; 8] =
    ["allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties", "unevaluatedProperties", "additionalProperties"];

/// Returns the schema with `additionalProperties: false` on every object that lists its fields and has no keyword of
/// [`BESIDE`].
pub(super) fn closed(schema: &Value) -> Value {
    close(schema, 0)
}

fn close(schema: &Value, depth: usize) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    if depth > DEPTH_MAX {
        return schema.clone();
    }
    let mut fields = fields.clone();
    for (name, value) in &mut fields {
        match (name.as_str(), &mut *value) {
            ("properties" | "$defs", Value::Object(parts)) => {
                parts.values_mut().for_each(|part| *part = close(part, depth + 1));
            }
            ("items", _) => *value = close(value, depth + 1),
            _ => {}
        }
    }
    if fields.contains_key("properties") && !BESIDE.iter().any(|word| fields.contains_key(*word)) {
        fields.insert("additionalProperties".to_owned(), json!(false));
    }
    Value::Object(fields)
}

/// Restricts lists named `evidence_refs` to these ids.
pub(super) fn with_ids(schema: &Value, ids: &[&str]) -> Value {
    match schema {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let mut value = with_ids(value, ids);
                if name == "evidence_refs" && value["type"] == "array" && !ids.is_empty() {
                    value["items"] = json!({ "type": "string", "enum": ids });
                }
                (name.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| with_ids(item, ids)).collect()),
        other => other.clone(),
    }
}

/// Replaces every `$ref` by its target. Beyond [`DEPTH_MAX`] a recursive schema is left open.
pub(super) fn inlined(schema: &Value) -> Value {
    let mut whole = inline(schema, schema, 0);
    if let Value::Object(fields) = &mut whole {
        ["$schema", "$defs", "$id", "title"].iter().for_each(|name| drop(fields.shift_remove(*name)));
        if fields.contains_key("properties") && !fields.contains_key("type") {
            fields.insert("type".to_owned(), json!("object"));
        }
    }
    whole
}

fn inline(schema: &Value, root: &Value, depth: usize) -> Value {
    match schema {
        _ if depth > DEPTH_MAX => json!({}),
        Value::Object(fields) => {
            if let Some(target) = fields.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
            {
                return root.pointer(target).map_or_else(|| json!({}), |found| inline(found, root, depth + 1));
            }
            let fields = fields.iter().map(|(name, value)| (name.clone(), inline(value, root, depth + 1)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.iter().map(|item| inline(item, root, depth + 1)).collect(),
        other => other.clone(),
    }
}

/// Returns the fields of a schema whose enum values are signal names; such a field must equal the signal of the answer.
pub(super) fn echoes(schema: &Value, signals: &[&str]) -> Vec<String> {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let is_echo = |field: &Value| {
        let values = field.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        !values.is_empty() && values.iter().all(|value| value.as_str().is_some_and(|name| signals.contains(&name)))
    };
    fields.filter(|(_, field)| is_echo(field)).map(|(name, _)| name.clone()).collect()
}

/// Selects if the bounds of lengths and numbers are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    Kept,
    Dropped,
}

/// Keywords that bound a value. Self-hosted servers support them and small models need them; the strict modes of the
/// large providers refuse them.
const BOUNDS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"];

/// Reduces a schema to the keywords that every enforcing server supports: objects with all fields required and no
/// others, lists, enums, plain types and alternatives. The result is never weaker in structure; dropped keywords
/// (patterns, and perhaps bounds) are checked locally afterwards. `None` if part of the schema is open.
pub(super) fn subset(schema: &Value, bounds: Bounds) -> Option<Value> {
    reduce(schema, bounds, 0)
}

fn reduce(schema: &Value, bounds: Bounds, depth: usize) -> Option<Value> {
    let fields = schema.as_object().filter(|_| depth <= DEPTH_MAX)?;
    let mut reduced = Map::new();
    if bounds == Bounds::Kept {
        let kept = fields.iter().filter(|(name, _)| BOUNDS.contains(&name.as_str()));
        reduced.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
    }
    if let Some(text) = fields.get("description") {
        reduced.insert("description".to_owned(), text.clone());
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        values.iter().all(Value::is_string).then_some(())?;
        reduced.extend([("type".to_owned(), json!("string")), ("enum".to_owned(), json!(values))]);
        return Some(Value::Object(reduced));
    }
    let has_fields = fields.contains_key("properties");
    match fields.get("type").and_then(Value::as_str) {
        Some("object") => object(fields, bounds, depth, &mut reduced)?,
        None if has_fields => object(fields, bounds, depth, &mut reduced)?,
        Some("array") => {
            let items = reduce(fields.get("items")?, bounds, depth + 1)?;
            reduced.extend([("type".to_owned(), json!("array")), ("items".to_owned(), items)]);
        }
        Some(plain @ ("string" | "number" | "integer" | "boolean" | "null")) => {
            reduced.insert("type".to_owned(), json!(plain));
        }
        _ => {
            let ways = fields.get("anyOf")?.as_array()?;
            let ways: Option<Vec<Value>> = ways.iter().map(|way| reduce(way, bounds, depth + 1)).collect();
            reduced.insert("anyOf".to_owned(), json!(ways?));
        }
    }
    Some(Value::Object(reduced))
}

fn object(fields: &Map<String, Value>, bounds: Bounds, depth: usize, reduced: &mut Map<String, Value>) -> Option<()> {
    let parts = fields.get("properties")?.as_object()?;
    let parts: Option<Map<String, Value>> =
        parts.iter().map(|(name, part)| Some((name.clone(), reduce(part, bounds, depth + 1)?))).collect();
    let parts = parts?;
    reduced.insert("type".to_owned(), json!("object"));
    reduced.insert("additionalProperties".to_owned(), json!(false));
    reduced.insert("required".to_owned(), parts.keys().cloned().collect());
    reduced.insert("properties".to_owned(), Value::Object(parts));
    Some(())
}
