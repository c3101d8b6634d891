//! Checks data against its schema: data that does not fit is refused, missing fields with defaults are filled in, and
//! whole numbers become fractions if the schema requires that.

use interlock_chart::{Value, model::Schema};
use jsonschema::error::ValidationErrorKind;
use serde_json::Value as Json;

/// A schema with its compiled validator.
#[derive(Debug)]
pub struct Checked {
    schema: Schema,
    validator: Option<jsonschema::Validator>,
}

impl Checked {
    /// Compiles a schema. The reader has refused invalid schemas; if one is invalid nevertheless, it accepts no data.
    pub(crate) fn new(schema: &Schema) -> Self {
        Self::made(schema, false)
    }

    /// Compiles a schema that also checks `format`. For data that a person types.
    pub fn with_formats(schema: &Schema) -> Self {
        Self::made(schema, true)
    }

    fn made(schema: &Schema, has_formats: bool) -> Self {
        let accepts_all =
            matches!(schema, Json::Bool(true)) || schema.as_object().is_some_and(|fields| fields.is_empty());
        let options = jsonschema::draft202012::options().should_validate_formats(has_formats);
        let validator = (!accepts_all).then(|| options.build(schema).ok()).flatten();
        Checked { schema: schema.clone(), validator }
    }

    /// Returns every reason why the data does not fit; empty if it does.
    pub fn problems(&self, data: &Json) -> Vec<String> {
        let errors = self.validator.iter().flat_map(|validator| validator.iter_errors(data));
        errors.map(|error| describe(&self.schema, data, &error)).collect()
    }

    /// Returns the data with defaults filled in, or every reason why it does not fit.
    pub(crate) fn admit(&self, data: &Value) -> Result<Value, Vec<String>> {
        let Some(validator) = &self.validator else { return Ok(data.clone()) };
        let mut json = Json::from(data);
        fill(&self.schema, &mut json, 0);
        let wrong: Vec<String> =
            validator.iter_errors(&json).map(|error| describe(&self.schema, &json, &error)).collect();
        if wrong.is_empty() { Ok(Value::from(json)) } else { Err(wrong) }
    }
}

fn describe(schema: &Schema, data: &Json, error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    let said = match error.kind() {
        // List all options, so that a mistyped value can be corrected from the message.
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten().map(Json::to_string);
            format!("{} is not one of {}", error.instance(), options.collect::<Vec<_>>().join(", "))
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => unknown(schema, unexpected, error),
        // If no field is allowed at all, every field that is present is unknown.
        ValidationErrorKind::FalseSchema if keyword(error).ends_with("/additionalProperties") => {
            let fields = data.pointer(&error.instance_path().to_string()).and_then(Json::as_object);
            unknown(schema, &fields.into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>(), error)
        }
        _ => error.to_string(),
    };
    if place.is_empty() { said } else { format!("{place}: {said}") }
}

/// Returns the path in the schema of the keyword that was violated.
fn keyword(error: &jsonschema::ValidationError<'_>) -> String {
    error.schema_path().to_string()
}

/// Lists the fields that a schema does not know, and the fields that it does.
fn unknown(schema: &Schema, unknown: &[String], error: &jsonschema::ValidationError<'_>) -> String {
    let unknown: Vec<String> = unknown.iter().map(|name| format!("`{name}`")).collect();
    let keyword = keyword(error);
    let of = |name: &str| {
        let of = keyword.rsplit_once('/').and_then(|(of, _)| schema.pointer(of)?.get(name)?.as_object());
        of.into_iter().flat_map(|fields| fields.keys().map(String::as_str)).collect::<Vec<_>>()
    };
    let known = match [of("properties"), of("patternProperties")].concat().as_slice() {
        [] => "there are no fields".to_owned(),
        known => format!("the fields are {}", known.join(", ")),
    };
    format!("{} {} not known here; {known}", unknown.join(", "), if unknown.len() == 1 { "is" } else { "are" })
}

/// The deepest schema that is followed; the reader refuses deeper ones.
const DEPTH_MAX: usize = 64;

/// Fills in defaults, and turns a whole number into a fraction if the schema has the type `number`: CEL distinguishes
/// the two and JSON does not.
fn fill(schema: &Schema, data: &mut Json, depth: usize) {
    if depth > DEPTH_MAX {
        return;
    }
    if schema.get("type").is_some_and(|kind| kind == "number")
        && let Some(whole) = data.as_i64()
        && let Some(fraction) = serde_json::Number::from_f64(whole as f64)
    {
        *data = Json::Number(fraction);
    }
    if let (Some(Json::Object(properties)), Json::Object(fields)) = (schema.get("properties"), &mut *data) {
        for (name, property) in properties {
            if let (false, Some(default)) = (fields.contains_key(name), property.get("default")) {
                fields.insert(name.clone(), default.clone());
            }
            if let Some(field) = fields.get_mut(name) {
                fill(property, field, depth + 1);
            }
        }
    }
    if let (Some(items), Json::Array(elements)) = (schema.get("items"), data) {
        elements.iter_mut().for_each(|element| fill(items, element, depth + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn admit(schema: Json, data: Json) -> Result<Json, Vec<String>> {
        Checked::new(&schema).admit(&Value::from(data)).map(|value| Json::from(&value))
    }

    #[test]
    fn what_is_left_out_is_filled_in_at_every_depth() {
        let schema = json!({"type": "object", "properties": {
            "limits": {"type": "object", "default": {}, "properties": {"rounds": {"type": "integer", "default": 3}}}
        }});
        assert_eq!(admit(schema, json!({})), Ok(json!({"limits": {"rounds": 3}})));
    }

    #[test]
    fn a_whole_number_is_a_fraction_where_the_schema_says_number() {
        let schema = json!({"type": "object", "properties": {"rate": {"type": "number"}, "rates": {"items": {"type": "number"}}}});
        let admitted = Checked::new(&schema).admit(&Value::from(json!({"rate": 2, "rates": [1, 2.5]})));
        let rates = Value::List([Value::Float(1.0), Value::Float(2.5)].into());
        assert_eq!(admitted, Ok(Value::map([("rate", Value::Float(2.0)), ("rates", rates)])));
    }

    #[test]
    fn every_value_that_would_be_right_is_named() {
        let names = ["qemu", "target_board", "windows_script", "bmc", "local", "program"];
        let schema = json!({"type": "object", "properties": {"env_type": {"enum": names}}});
        let wrong = admit(schema, json!({"env_type": "qmeu"})).unwrap_err();
        let listed = r#""qemu", "target_board", "windows_script", "bmc", "local", "program""#;
        assert_eq!(wrong, [format!("env_type: \"qmeu\" is not one of {listed}")]);
    }

    #[test]
    fn a_field_that_nobody_knows_is_refused_with_those_that_are_known() {
        let inner = json!({"type": "object", "additionalProperties": false, "properties": {"max": {}, "min": {}}});
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {"inner": inner}});
        let check = |data, expected: &str| assert_eq!(admit(schema.clone(), data), Err(vec![expected.to_owned()]));
        check(json!({"outer": 1}), "`outer` is not known here; the fields are inner");
        check(json!({"inner": {"most": 1}}), "inner: `most` is not known here; the fields are max, min");
        let patterns = json!({"type": "object", "additionalProperties": false, "patternProperties": {"^x-": {}}});
        assert_eq!(
            admit(patterns, json!({"a": 1, "b": 2})),
            Err(vec!["`a`, `b` are not known here; the fields are ^x-".into()])
        );
        let nothing = json!({"type": "object", "additionalProperties": false});
        let wrong = admit(nothing, json!({"nonsense": 1})).unwrap_err();
        assert_eq!(wrong, ["`nonsense` is not known here; there are no fields"]);
    }

    #[test]
    fn every_problem_is_named_with_its_place() {
        let schema = json!({"type": "object", "required": ["goal"], "properties": {"n": {"type": "integer"}}});
        let wrong = admit(schema, json!({"n": "x"})).unwrap_err();
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong.iter().any(|line| line.starts_with("n: ")), "{wrong:?}");
    }
}
