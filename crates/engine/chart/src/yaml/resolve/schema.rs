//! JSON Schemas in the file: completed with defaults, and compiled once to check that they are valid.

use super::{
    super::{code, node::Node},
    Resolver, plain_schema,
};
use crate::{Diagnostic, model::Schema};
use serde_json::{Value as Json, json};

/// Keywords that prevent the addition of `type: object`, because they may define another type.
const COMBINING: &[&str] = &["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not", "if"];

/// Returns the default schema: an object with any fields.
pub(crate) fn anything() -> Schema {
    json!({ "type": "object" })
}

/// Returns the schema of the data of a failed activity.
pub(crate) fn error() -> Schema {
    let text = json!({ "type": "string" });
    json!({ "type": "object", "properties": { "code": text, "message": text, "state": text, "activity": text }, "additionalProperties": true })
}

/// Returns the schema of the data of a state's timeout.
pub(crate) fn timeout() -> Schema {
    json!({ "type": "object", "properties": { "state": { "type": "string" } } })
}

impl Resolver<'_, '_, '_> {
    /// Returns the schema of an object. `type: object` may be omitted in the file.
    pub(super) fn schema(&mut self, node: &Node) -> Schema {
        let schema = self.schema_shape(node);
        let wrong = match &schema {
            Json::Bool(_) => None,
            Json::Object(fields) => match fields.get("type") {
                Some(Json::String(ty)) if ty != "object" && is_type(ty) => {
                    Some(format!("the data must be an object, not `{ty}`"))
                }
                _ => compile(&schema),
            },
            _ => Some(format!("expected a JSON Schema, found {}", node.word())),
        };
        match wrong {
            None => schema,
            Some(message) => {
                self.report(Diagnostic::error(code::BAD_SCHEMA, node.span, message));
                anything()
            }
        }
    }
}

impl Resolver<'_, '_, '_> {
    /// Returns the schema as it will be kept, without a check.
    pub(super) fn schema_shape(&mut self, node: &Node) -> Schema {
        let mut schema = self.decoder().json(node);
        if let Json::Object(fields) = &mut schema
            && !COMBINING.iter().any(|key| fields.contains_key(*key))
        {
            fields.shift_insert(0, "type".to_owned(), "object".into());
        }
        schema
    }
}

fn is_type(word: &str) -> bool {
    matches!(word, "string" | "number" | "integer" | "boolean" | "array" | "null")
}

/// Compiles a schema and returns its problem, if there is one.
fn compile(schema: &Json) -> Option<String> {
    if plain_schema::is_plainly_valid(schema) {
        return None;
    }
    let error = jsonschema::draft202012::new(schema).err()?;
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
    Some(format!("not a JSON Schema{place}: {error}"))
}
