//! Makes an example value for a schema, to show people the form of an answer. It is as small as the schema allows,
//! except that lists have one item, which shows the form of an item.

use interlock_chart::model::Schema;
use serde_json::{Value as Json, json};

/// The depth to which nested schemas are followed.
const DEPTH_MAX: usize = 8;

/// Returns an example with only the required fields, and with one item in every list.
pub(crate) fn sample(schema: &Schema) -> Json {
    of(schema, 0)
}

fn of(schema: &Schema, depth: usize) -> Json {
    for key in ["const", "default"] {
        if let Some(value) = schema.get(key) {
            return value.clone();
        }
    }
    for key in ["enum", "examples"] {
        if let Some(first) = schema.get(key).and_then(|values| values.get(0)) {
            return first.clone();
        }
    }
    if depth > DEPTH_MAX {
        return Json::Null;
    }
    match kind(schema) {
        "string" => json!("…"),
        "integer" => json!(schema.get("minimum").and_then(Json::as_i64).unwrap_or(1)),
        "number" => json!(schema.get("minimum").and_then(Json::as_f64).unwrap_or(1.0)),
        "boolean" => json!(true),
        "null" => Json::Null,
        "array" => array(schema, depth),
        _ => object(schema, depth),
    }
}

/// Returns the first type that a schema names; `object` if it names none, because the data of events is always an
/// object.
pub(crate) fn kind(schema: &Schema) -> &str {
    match schema.get("type") {
        Some(Json::String(kind)) => kind,
        Some(Json::Array(kinds)) => kinds.first().and_then(Json::as_str).unwrap_or("object"),
        _ => "object",
    }
}

fn array(schema: &Schema, depth: usize) -> Json {
    const ITEMS_MAX: u64 = 8;
    let bound = |name: &str| schema.get(name).and_then(Json::as_u64);
    let least = bound("minItems").unwrap_or(1).clamp(1, ITEMS_MAX).min(bound("maxItems").unwrap_or(ITEMS_MAX));
    let item = |_| schema.get("items").map_or(json!("…"), |items| of(items, depth + 1));
    Json::Array((0..least).map(item).collect())
}

fn object(schema: &Schema, depth: usize) -> Json {
    let fields = required(schema).map(|name| {
        let field = schema.get("properties").and_then(|fields| fields.get(name));
        (name.to_owned(), field.map_or(json!("…"), |field| of(field, depth + 1)))
    });
    Json::Object(fields.collect())
}

/// Returns the names of the required fields.
pub(crate) fn required(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_what_is_required_and_no_more() {
        let schema = json!({
            "type": "object",
            "required": ["goal", "kind", "count", "deep", "list", "items", "none"],
            "properties": {
                "goal": { "type": "string" }, "kind": { "enum": ["a", "b"] }, "count": { "type": "integer", "minimum": 3 },
                "deep": { "type": "object", "required": ["yes"], "properties": { "yes": { "type": "boolean" } } },
                "list": { "type": "array", "minItems": 1, "items": { "type": "number" } }, "left": { "type": "string" },
                "items": { "type": "array", "items": { "required": ["name"], "properties": { "name": { "type": "string" } } } },
                "none": { "type": "array", "maxItems": 0 },
            }
        });
        let expected = json!({
            "goal": "…", "kind": "a", "count": 3, "deep": { "yes": true }, "list": [1.0], "items": [{ "name": "…" }], "none": [],
        });
        assert_eq!(sample(&schema), expected);
        assert_eq!(sample(&json!(true)), json!({}));
    }
}
