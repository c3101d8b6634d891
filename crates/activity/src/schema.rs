//! The schemas that activities publish: one line for each field of `with`.
//!
//! These say what [`Given`](crate::Given) accepts, so that a machine is refused before it runs and not in the middle.

use interlock_chart::{catalogue::MEANING, model::Schema};
use serde_json::{Map, json};

/// The fields an activity knows, each with its schema; any other is unknown.
pub fn fields<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let properties: Map<_, _> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The same, with fields that must be given.
#[must_use]
pub fn needing(mut schema: Schema, required: &[&str]) -> Schema {
    schema["required"] = json!(required);
    schema
}

/// The same, with any other field allowed.
#[must_use]
pub fn open(mut schema: Schema) -> Schema {
    schema["additionalProperties"] = json!(true);
    schema
}

/// The same, with the fields of another schema.
#[must_use]
pub fn also(mut schema: Schema, other: &Schema) -> Schema {
    let more = other.get("properties").and_then(Schema::as_object).cloned().unwrap_or_default();
    if let Some(fields) = schema.get_mut("properties").and_then(Schema::as_object_mut) {
        fields.extend(more);
    }
    schema
}

/// Anything.
pub fn any() -> Schema {
    json!({})
}

/// A string.
pub fn text() -> Schema {
    json!({ "type": "string" })
}

/// A string that stands for something; see [`Meaning`](interlock_chart::catalogue::Meaning).
pub fn meaning(word: &str) -> Schema {
    json!({ "type": "string", MEANING: word })
}

/// One of these words.
pub fn one_of(words: &[&str]) -> Schema {
    json!({ "type": "string", "enum": words })
}

/// A truth value.
pub fn flag() -> Schema {
    json!({ "type": "boolean" })
}

/// A number, from 0.
pub fn number() -> Schema {
    json!({ "type": "number", "minimum": 0 })
}

/// A whole number, from 0.
pub fn whole() -> Schema {
    json!({ "type": "integer", "minimum": 0 })
}

/// A list.
pub fn list(items: Schema) -> Schema {
    json!({ "type": "array", "items": items })
}

/// Any object.
pub fn object() -> Schema {
    json!({ "type": "object" })
}

/// A map of names to values of one kind.
pub fn map(values: Schema) -> Schema {
    json!({ "type": "object", "additionalProperties": values })
}

/// A string, or a number or truth value that is written as one.
pub fn plain() -> Schema {
    json!({ "type": ["string", "number", "boolean"] })
}
