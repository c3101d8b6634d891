//! The signals that an activity can end with, and the data that each of them carries.

use interlock_chart::{Value, model::Schema};
use serde_json::{Map, Value as Json};

use crate::{Outcome, schema};

/// A signal of an activity. Its name, the schema of its data and the outcome come from this one value, so that they cannot
/// differ.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// The name of the signal.
    pub name: &'static str,
    data: fn() -> Schema,
}

impl Signal {
    /// A signal whose data fits a schema. `check` knows its fields.
    pub const fn new(name: &'static str, data: fn() -> Schema) -> Self {
        Signal { name, data }
    }

    /// A signal whose data is not described: it may have any fields.
    pub const fn open(name: &'static str) -> Self {
        Signal { name, data: schema::object }
    }

    /// The JSON Schema of its data.
    pub fn data(&self) -> Schema {
        (self.data)()
    }

    /// Ends with this signal. The data must fit its schema; a debug build panics if it does not.
    pub fn outcome(&self, data: Value) -> Outcome {
        self.named(self.name, data)
    }

    /// Ends with this signal under the name that a machine gives it.
    pub fn named(&self, name: impl Into<String>, data: Value) -> Outcome {
        debug_assert_eq!(misfit(&self.data(), &Json::from(&data)), None, "the data of the signal `{}`", self.name);
        Outcome::signal(name, data)
    }
}

/// Returns the reason why data does not fit a schema made of the parts in [`schema`], or `None` if it fits.
pub(crate) fn misfit(schema: &Schema, data: &Json) -> Option<String> {
    let is = |kind: &str| match kind {
        "null" => data.is_null(),
        "boolean" => data.is_boolean(),
        "integer" => data.is_i64() || data.is_u64(),
        "number" => data.is_number(),
        "string" => data.is_string(),
        "array" => data.is_array(),
        "object" => data.is_object(),
        _ => false,
    };
    let fits = match schema.get("type") {
        Some(Json::String(kind)) => is(kind),
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).any(is),
        _ => true,
    };
    match data {
        _ if !fits => Some(format!("{data} is not of the type {}", schema["type"])),
        Json::Array(items) => items.iter().find_map(|item| misfit(schema.get("items")?, item)),
        Json::Object(fields) => unfit_field(schema, fields),
        _ => None,
    }
}

fn unfit_field(schema: &Schema, fields: &Map<String, Json>) -> Option<String> {
    let known = |name: &str| schema.get("properties").and_then(|known| known.get(name));
    fields.iter().find_map(|(name, value)| match (known(name), schema.get("additionalProperties")) {
        (Some(schema), _) => misfit(schema, value).map(|why| format!("`{name}`: {why}")),
        (None, Some(Json::Bool(false))) => Some(format!("`{name}` is not among its fields")),
        (None, _) => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_that_does_not_fit_is_named() {
        let schema = schema::fields([("code", schema::or_null("integer")), ("paths", schema::list(schema::text()))]);
        let check = |data: Json, expected: Option<&str>| assert_eq!(misfit(&schema, &data).as_deref(), expected);
        check(json!({ "code": null, "paths": ["a"] }), None);
        check(json!({}), None);
        check(json!({ "cod": 1 }), Some("`cod` is not among its fields"));
        check(json!({ "code": "1" }), Some("`code`: \"1\" is not of the type [\"integer\",\"null\"]"));
        check(json!({ "paths": [1] }), Some("`paths`: 1 is not of the type \"string\""));
    }
}
