//! Types derived from schemas and values, and operations on types.

use serde_json::{Value as Json, json};

use crate::{Value, expr::Type};

/// Formats a type with its fields for these tables; `Display` is shorter.
fn show(kind: &Type) -> String {
    match kind {
        Type::Map { fields, open } => {
            let mut fields: Vec<String> = fields.iter().map(|(name, kind)| format!("{name}: {}", show(kind))).collect();
            fields.extend(open.then(|| "…".to_owned()));
            format!("{{{}}}", fields.join(", "))
        }
        Type::List(items) => format!("[{}]", show(items)),
        Type::Dyn => "?".to_owned(),
        other => other.to_string(),
    }
}

fn of_schema(schema: Json, expected: &str) {
    assert_eq!(show(&Type::of_schema(&schema)), expected, "{schema}");
}

fn of_value(value: Json, expected: &str) {
    assert_eq!(show(&Type::of_value(&Value::from(value.clone()))), expected, "{value}");
}

#[test]
fn schemas_of_simple_values_are_converted() {
    of_schema(json!({"type": "null"}), "null");
    of_schema(json!({"type": "boolean"}), "bool");
    of_schema(json!({"type": "integer", "maximum": 9}), "int");
    of_schema(json!({"type": "number"}), "double");
    of_schema(json!({"type": "string"}), "string");
    of_schema(json!({"enum": ["a", "b"]}), "string ('a', 'b')");
    of_schema(json!({"type": ["string", "null"], "enum": ["a", null]}), "string ('a')");
    of_schema(json!({"const": "a"}), "string ('a')");
    of_schema(json!({"enum": [1, 2]}), "int");
    of_schema(json!({"enum": [1, 2.5]}), "double");
    of_schema(json!({"enum": [1, "a"]}), "?");
    of_schema(json!({"const": null}), "null");
    of_schema(json!({"enum": []}), "?");
    of_schema(json!({"type": ["string", "null"]}), "?");
    of_schema(json!({"type": ["integer", "number"]}), "double");
    of_schema(json!({"type": ["integer"]}), "int");
    of_schema(json!({"type": "unheard of"}), "?");
    of_schema(json!({}), "?");
    of_schema(json!(true), "?");
    of_schema(json!("nonsense"), "?");
}

#[test]
fn schemas_of_lists_and_maps_are_converted() {
    of_schema(json!({"type": "array"}), "[?]");
    of_schema(json!({"type": "array", "items": {"type": "integer"}}), "[int]");
    of_schema(json!({"items": {"type": "integer"}}), "[int]");
    of_schema(json!({"type": "object"}), "{…}");
    of_schema(json!({"type": "object", "additionalProperties": {"type": "string"}}), "{…}");
    of_schema(json!({"properties": {}}), "{}");
    let properties = json!({"a": {"type": "integer"}, "b": {"properties": {"c": true}}});
    of_schema(json!({"type": "object", "properties": properties}), "{a: int, b: {c: ?}}");
    of_schema(json!({"properties": properties, "additionalProperties": false}), "{a: int, b: {c: ?}}");
    of_schema(json!({"properties": properties, "additionalProperties": true}), "{a: int, b: {c: ?}, …}");
    of_schema(json!({"properties": {}, "patternProperties": {"^x": {}}}), "{…}");
}

#[test]
fn references_and_branches_are_converted() {
    of_schema(json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}), "int");
    of_schema(json!({"$ref": "#/$defs/missing"}), "?");
    of_schema(json!({"$ref": "other.json#/x"}), "?");
    of_schema(json!({"$ref": 1}), "?");
    of_schema(json!({"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 1}]}), "int");
    of_schema(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), "?");
    of_schema(json!({"allOf": [{"properties": {"a": {"type": "integer"}}}]}), "{a: int}");
    of_schema(json!({"oneOf": []}), "?");
}

#[test]
fn recursive_schemas_terminate() {
    of_schema(json!({"$ref": "#"}), "?");
    let tree = json!({"properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}, "n": {"type": "integer"}}});
    let Type::Map { fields, .. } = Type::of_schema(&tree) else { panic!("a map") };
    assert_eq!(fields["n"], Type::Int);
    let wide = json!({"properties": (0..40).map(|n| (n.to_string(), json!({"$ref": "#"}))).collect::<serde_json::Map<_, _>>()});
    assert!(matches!(Type::of_schema(&wide), Type::Map { .. }));
}

#[test]
fn values_give_their_types() {
    of_value(
        json!({"a": 1, "b": 1.5, "c": "x", "d": [1, 2], "e": true}),
        "{a: int, b: double, c: string, d: [int], e: bool}",
    );
    of_value(json!({"a": {}, "b": [], "c": null}), "{a: {…}, b: [?], c: ?}");
    of_value(json!([1, "x"]), "[?]");
    of_value(json!([{"a": 1}, {"a": 1.5, "b": 2}]), "[{a: double, b: int}]");
}

#[test]
fn unknown_types_are_accepted() {
    let closed = Type::of_schema(&json!({"properties": {"a": {"type": "integer"}, "s": {"enum": ["x", "y"]}}}));
    let example = |value: Json| Type::of_value(&Value::from(value));
    assert!(closed.accepts(&example(json!({"a": 1}))));
    assert!(closed.accepts(&example(json!({"a": null, "s": "anything"}))));
    assert!(closed.accepts(&Type::open_map()));
    assert!(!closed.accepts(&example(json!({"a": "1"}))));
    assert!(!closed.accepts(&example(json!({"b": 1}))));
    assert!(!closed.accepts(&Type::Int));
    assert!(Type::Double.accepts(&Type::Int));
    assert!(!Type::Int.accepts(&Type::Double));
    assert!(!Type::Bool.accepts(&Type::Null));
    let letters = Type::Str(Some(vec!["x".to_owned(), "y".to_owned()]));
    assert!(letters.accepts(&Type::Str(Some(vec!["y".to_owned()]))));
    assert!(!letters.accepts(&Type::Str(Some(vec!["y".to_owned(), "z".to_owned()]))));
    assert!(example(json!([1.5])).accepts(&example(json!([1]))));
    assert!(!example(json!([1])).accepts(&example(json!(["a"]))));
}
