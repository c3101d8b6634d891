//! The JSON Schema of the machine file, for editors and for programs that write machines.
//!
//! It is generated from the types in [`crate::file`] and then restricted by rules that types cannot express: no unknown
//! keys, patterns for names and durations. It accepts every shape that the reader accepts. Only the reader checks the
//! meaning of names.

use crate::file::MachineFile;
use serde_json::{Map, Value as Json, json};

/// The name of the schema. It is not an address: `interlock schema` prints the schema.
pub const SCHEMA_ID: &str = "urn:interlock:machine-file:1";

/// The pattern of a duration.
const DURATION: &str = "^[0-9]+(ms|s|m|h|d)$";
/// The pattern of a state's own `timeout`.
const TIMEOUT: &str = "^([0-9]+(ms|s|m|h|d)|none)$";
/// The pattern of a machine's id.
const MACHINE: &str = r"^[\p{L}_][\p{L}\p{N}_-]*$";
/// The pattern of a variable's or counter's name.
const IDENTIFIER: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// Returns the schema of `machine.yaml`.
pub fn machine_schema() -> Json {
    let mut schema = Json::from(schemars::schema_for!(MachineFile));
    close(&mut schema);
    if let Json::Object(fields) = &mut schema {
        fields.shift_insert(1, "$id".to_owned(), SCHEMA_ID.into());
    }
    tighten(&mut schema);
    schema
}

/// Returns the schema as the text that is checked in.
pub fn machine_schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&machine_schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// Forbids unknown keys in every object that has known ones.
fn close(schema: &mut Json) {
    match schema {
        Json::Object(fields) => {
            if fields.contains_key("properties") && fields.get("type") == Some(&json!("object")) {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        Json::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn tighten(schema: &mut Json) {
    pattern(schema, "/properties/machine", MACHINE);
    pattern(schema, "/properties/timeout", DURATION);
    names(schema, "/properties/context", IDENTIFIER);
    pattern(schema, "/$defs/StateFile/properties/timeout", TIMEOUT);
    at_least_one(schema, "/properties/states");
    number_from(schema, "/$defs/MaxFile/anyOf/0", 1);
    number_from(schema, "/$defs/LimitFile/anyOf/0", 1);
    pattern(schema, "/$defs/LimitFile/anyOf/1", r"^\s*\$\{");
    pattern(schema, "/$defs/MaxFile/anyOf/1", r"^\s*\$\{");
    pattern(schema, "/$defs/LimitFile/anyOf/2/properties/counter", IDENTIFIER);
    optional(schema, "/$defs/LimitFile/anyOf/2/required", "counter");
    optional(schema, "/$defs/InitialFile/anyOf/1/required", "actions");
    optional(schema, "/$defs/RaiseFile/anyOf/1/required", "data");
    or_also(schema, "/$defs/TransitionBody/properties/guard", "boolean");
    or_also(schema, "/$defs/StateFile", "null");
    or_also(schema, "/$defs/EventFile", "null");
}

fn object<'s>(schema: &'s mut Json, pointer: &str) -> Option<&'s mut Map<String, Json>> {
    schema.pointer_mut(pointer).and_then(Json::as_object_mut)
}

fn pattern(schema: &mut Json, pointer: &str, pattern: &str) {
    if let Some(fields) = object(schema, pointer) {
        fields.insert("pattern".to_owned(), pattern.into());
    }
}

fn names(schema: &mut Json, pointer: &str, pattern: &str) {
    if let Some(fields) = object(schema, pointer) {
        fields.insert("propertyNames".to_owned(), json!({ "pattern": pattern }));
    }
}

fn at_least_one(schema: &mut Json, pointer: &str) {
    if let Some(fields) = object(schema, pointer) {
        fields.insert("minProperties".to_owned(), 1.into());
    }
}

fn number_from(schema: &mut Json, pointer: &str, least: u32) {
    if let Some(fields) = object(schema, pointer) {
        fields.insert("minimum".to_owned(), least.into());
    }
}

fn optional(schema: &mut Json, pointer: &str, key: &str) {
    if let Some(required) = schema.pointer_mut(pointer).and_then(Json::as_array_mut) {
        required.retain(|name| name != key);
    }
}

/// Adds another type that the reader accepts as equivalent.
fn or_also(schema: &mut Json, pointer: &str, another: &str) {
    let Some(fields) = object(schema, pointer) else { return };
    match fields.get_mut("type") {
        Some(Json::Array(types)) => types.push(another.into()),
        Some(one) => *one = json!([one.clone(), another]),
        None => {}
    }
}
