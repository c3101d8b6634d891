//! The schemas that activities publish: one line for each field of `with`.
//!
//! They describe the data that [`Arguments`](crate::Arguments) accepts, so that a machine is refused before it runs and not
//! during the run.

use interlock_chart::{catalogue::MEANING, model::Schema};
use serde_json::{Map, json};

/// An object with exactly these fields; any other field is refused.
pub fn fields<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let properties: Map<_, _> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Adds the names of required fields to a schema.
#[must_use]
pub fn needing(mut schema: Schema, required: &[&str]) -> Schema {
    schema["required"] = json!(required);
    schema
}

/// Allows any other field as well.
#[must_use]
pub fn open(mut schema: Schema) -> Schema {
    schema["additionalProperties"] = json!(true);
    schema
}

/// Adds the fields of another schema.
#[must_use]
pub fn also(mut schema: Schema, other: &Schema) -> Schema {
    let more = other.get("properties").and_then(Schema::as_object).cloned().unwrap_or_default();
    if let Some(fields) = schema.get_mut("properties").and_then(Schema::as_object_mut) {
        fields.extend(more);
    }
    schema
}

/// Accepts any value of any type.
pub fn any() -> Schema {
    json!({})
}

/// Accepts a value of a type, such as `string`, or null.
pub fn or_null(kind: &str) -> Schema {
    json!({ "type": [kind, "null"] })
}

/// Accepts a whole number.
pub fn integer() -> Schema {
    json!({ "type": "integer" })
}

/// An object without fields.
pub fn nothing() -> Schema {
    fields([])
}

/// Accepts any string, even an empty one.
pub fn text() -> Schema {
    json!({ "type": "string" })
}

/// A string with a special meaning; see [`Meaning`](interlock_chart::catalogue::Meaning).
pub fn meaning(word: &str) -> Schema {
    json!({ "type": "string", MEANING: word })
}

/// Accepts one of these words.
pub fn one_of(words: &[&str]) -> Schema {
    json!({ "type": "string", "enum": words })
}

/// Accepts true or false.
pub fn flag() -> Schema {
    json!({ "type": "boolean" })
}

/// Accepts a number from 0.
pub fn number() -> Schema {
    json!({ "type": "number", "minimum": 0 })
}

/// Accepts a whole number from 0.
pub fn whole() -> Schema {
    json!({ "type": "integer", "minimum": 0 })
}

/// Accepts a list of such items.
pub fn list(items: Schema) -> Schema {
    json!({ "type": "array", "items": items })
}

/// Accepts an object with any fields.
pub fn object() -> Schema {
    json!({ "type": "object" })
}

/// A map of names to values of one kind.
pub fn map(values: Schema) -> Schema {
    json!({ "type": "object", "additionalProperties": values })
}

/// A string, or a number or bool that is converted to one.
pub fn plain() -> Schema {
    json!({ "type": ["string", "number", "boolean"] })
}
