//! A fast check for schemas that are obviously valid.
//!
//! Compiling a schema needs the whole JSON Schema implementation and costs more than all the rest of reading a machine.
//! Nearly every schema in a machine file uses a dozen keywords in their simplest form. Those are checked here. Every
//! other schema is left to the compiler, which also reports the problems.

use serde_json::Value as Json;

/// Returns true if the schema uses only common keywords, each in its valid form.
pub(super) fn is_plainly_valid(schema: &Json) -> bool {
    match schema {
        Json::Bool(_) => true,
        Json::Object(fields) => fields.iter().all(|(keyword, value)| holds(keyword, value)),
        _ => false,
    }
}

fn holds(keyword: &str, value: &Json) -> bool {
    match keyword {
        "type" => is_type(value),
        "title" | "description" | "$comment" => value.is_string(),
        "default" | "const" | "examples" => keyword != "examples" || value.is_array(),
        "properties" => value.as_object().is_some_and(|fields| fields.values().all(is_plainly_valid)),
        "items" | "additionalProperties" | "not" | "contains" => is_plainly_valid(value),
        "anyOf" | "oneOf" | "allOf" => {
            value.as_array().is_some_and(|branches| !branches.is_empty() && branches.iter().all(is_plainly_valid))
        }
        "required" => are_different_strings(value),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => value.is_u64(),
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => value.is_boolean(),
        _ => false,
    }
}

fn is_type(value: &Json) -> bool {
    let known = |value: &Json| {
        let word = value.as_str().unwrap_or_default();
        matches!(word, "object" | "string" | "number" | "integer" | "boolean" | "array" | "null")
    };
    match value {
        Json::Array(types) => !types.is_empty() && types.iter().all(known) && are_different_strings(value),
        one => known(one),
    }
}

fn are_different_strings(value: &Json) -> bool {
    let Some(items) = value.as_array() else { return false };
    let names: std::collections::BTreeSet<&str> = items.iter().filter_map(Json::as_str).collect();
    names.len() == items.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plainly_valid_schemas_compile_and_invalid_ones_are_not_plainly_valid() {
        let plain = [
            json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": ["string", "null"] } } }),
            json!({ "properties": { "a": { "enum": [1, "x"] }, "b": { "items": { "type": "integer", "minimum": 0 } } } }),
            json!({ "anyOf": [true, { "maxLength": 3 }], "additionalProperties": false }),
        ];
        for schema in plain {
            assert!(is_plainly_valid(&schema), "{schema}");
            assert!(jsonschema::draft202012::new(&schema).is_ok(), "{schema}");
        }
        let wrong = [
            json!({ "type": "objekt" }),
            json!({ "type": [] }),
            json!({ "properties": 5 }),
            json!({ "required": ["a", "a"] }),
            json!({ "minLength": -1 }),
            json!({ "properties": { "a": { "pattern": "(" } } }),
            json!({ "anyOf": [] }),
            json!({ "$ref": "#/nowhere" }),
        ];
        for schema in wrong {
            assert!(!is_plainly_valid(&schema), "{schema}");
            assert!(jsonschema::draft202012::new(&schema).is_err(), "{schema}");
        }
    }
}
