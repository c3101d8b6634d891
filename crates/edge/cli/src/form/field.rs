//! A field of a form: its name, its kind of prompt, and the conversion of typed text to a value that fits its schema.

use interlock_chart::model::Schema;
use interlock_runtime::Checked;
use serde_json::{Map, Value as Json};

use crate::sample::{kind, required};

/// The length of the longest chain of `$ref` that is followed.
const REFERENCES_MAX: usize = 16;

/// A field of a form with its schema.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// The path from the top of the data: `a.b[2]`.
    pub(crate) path: String,
    /// The field's schema, with the definitions that it refers to.
    pub(crate) schema: Schema,
    /// True if the field must have a value.
    pub(crate) is_required: bool,
}

/// The kind of prompt for a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A choice of one of these values.
    Choice(Vec<Json>),
    /// A question that is answered with yes or no.
    YesNo,
    /// Text that is taken literally.
    Text,
    /// A number; `true` for whole numbers only.
    Number(bool),
    /// An object, which is asked for field by field.
    Object,
    /// A list, which is asked for item by item.
    List,
    /// Any value, typed as JSON.
    Json,
}

impl Field {
    /// Makes the field for the data of an event as a whole.
    pub(crate) fn whole(schema: &Schema) -> Self {
        Field { path: String::new(), schema: resolved(schema, schema), is_required: true }
    }

    /// Returns the fields of an object, in the schema's order.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let required: Vec<&str> = required(&self.schema).collect();
        let properties = self.schema.get("properties").and_then(Json::as_object).into_iter().flatten();
        let dot = if self.path.is_empty() { "" } else { "." };
        let field = |(name, schema): (&String, &Json)| Field {
            path: format!("{}{dot}{name}", self.path),
            schema: resolved(&self.schema, schema),
            is_required: required.contains(&name.as_str()),
        };
        properties.map(field).collect()
    }

    /// Returns the field's name within its object.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the field for an item of a list. Items are optional: an empty one ends the list.
    pub(crate) fn item(&self, at: usize) -> Field {
        let schema = self.schema.get("items").map_or(Json::Bool(true), |items| resolved(&self.schema, items));
        Field { path: format!("{}[{at}]", self.path), schema, is_required: false }
    }

    /// Returns the kind of prompt that fits the schema.
    pub(crate) fn kind(&self) -> Kind {
        if let Some(values) = self.schema.get("enum").and_then(Json::as_array) {
            return Kind::Choice(values.clone());
        }
        let has = |key: &str| self.schema.get(key).is_some_and(Json::is_object);
        match kind(&self.schema) {
            "boolean" => Kind::YesNo,
            "string" => Kind::Text,
            "integer" => Kind::Number(true),
            "number" => Kind::Number(false),
            "object" if has("properties") => Kind::Object,
            "array" if has("items") => Kind::List,
            _ => Kind::Json,
        }
    }

    /// Returns the schema's default, which is used if the field is left empty.
    pub(crate) fn default(&self) -> Option<&Json> {
        self.schema.get("default")
    }

    /// Returns the schema's description.
    pub(crate) fn description(&self) -> Option<&str> {
        self.schema.get("description").and_then(Json::as_str)
    }

    /// Returns true if an answer must be typed. This includes a field whose default is yes.
    pub(crate) fn must_answer(&self) -> bool {
        let is_yes = self.default() == Some(&Json::Bool(true));
        is_yes || (self.is_required && self.default().is_none())
    }

    /// Returns the value of typed text; `None` if an optional field is left empty. The error describes the problem.
    pub(crate) fn read(&self, typed: &str) -> Result<Option<Json>, String> {
        if typed.trim().is_empty() {
            return if self.must_answer() { Err("this field is required".to_owned()) } else { Ok(None) };
        }
        let value = self.parse(typed)?;
        self.check(&value).map(|()| Some(value))
    }

    fn parse(&self, typed: &str) -> Result<Json, String> {
        let word = typed.trim();
        match self.kind() {
            Kind::Text => Ok(Json::String(typed.to_owned())),
            Kind::YesNo => match word.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Json::Bool(true)),
                "n" | "no" | "false" => Ok(Json::Bool(false)),
                _ => Err("type y for yes or n for no".to_owned()),
            },
            Kind::Number(true) => word.parse::<i64>().map(Json::from).map_err(|_| "not a whole number".to_owned()),
            Kind::Number(false) => {
                let number = word.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                number.map(Json::Number).ok_or_else(|| "not a number".to_owned())
            }
            Kind::Choice(_) | Kind::Object | Kind::List | Kind::Json => {
                serde_json::from_str(word).map_err(|error| format!("not JSON: {error}"))
            }
        }
    }

    /// Checks a value against the schema. The error lists all problems.
    pub(crate) fn check(&self, value: &Json) -> Result<(), String> {
        let problems = Checked::with_formats(&self.schema).problems(value);
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }
}

/// Returns a part of a schema as a separate schema: references are followed, and the definitions are copied for
/// references further inside.
fn resolved(root: &Schema, part: &Schema) -> Schema {
    let mut part = part;
    for _ in 0..REFERENCES_MAX {
        let target = part.get("$ref").and_then(Json::as_str).and_then(|target| target.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(found) => part = found,
            None => break,
        }
    }
    let mut part = part.clone();
    if let Json::Object(fields) = &mut part {
        carry_definitions(root, fields);
    }
    part
}

fn carry_definitions(root: &Schema, fields: &mut Map<String, Json>) {
    for key in ["$defs", "definitions"] {
        if let Some(definitions) = root.get(key).filter(|_| !fields.contains_key(key)) {
            fields.insert(key.to_owned(), definitions.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(schema: Json, is_required: bool) -> Field {
        Field { path: "x".into(), schema, is_required }
    }

    #[test]
    fn an_object_has_a_field_for_every_property_in_its_order() {
        let schema = json!({ "required": ["why"], "properties": {
            "why": { "type": "string", "description": "In a sentence" }, "how": { "enum": ["fast", "slow"] },
            "sure": { "type": "boolean" }, "count": { "type": "integer" },
            "place": { "$ref": "#/$defs/place" }, "tags": { "type": "array", "items": { "type": "string" } }, "free": {},
        }, "$defs": { "place": { "properties": { "row": { "type": "number" } } } } });
        let fields = Field::whole(&schema).fields();
        let found: Vec<_> = fields.iter().map(|field| (field.path.as_str(), field.kind(), field.is_required)).collect();
        let expected = [
            ("why", Kind::Text, true),
            ("how", Kind::Choice(vec![json!("fast"), json!("slow")]), false),
            ("sure", Kind::YesNo, false),
            ("count", Kind::Number(true), false),
            ("place", Kind::Object, false),
            ("tags", Kind::List, false),
            ("free", Kind::Json, false),
        ];
        assert_eq!(found, expected);
        let place = fields.iter().find(|field| field.path == "place").unwrap();
        assert_eq!(place.fields()[0].path, "place.row");
        assert_eq!(fields[5].item(2).path, "tags[2]");
        assert!(Field::whole(&json!(true)).fields().is_empty());
    }

    #[test]
    fn typed_text_keeps_its_type_and_is_held_to_the_schema() {
        assert_eq!(field(json!({ "type": "string" }), true).read("5"), Ok(Some(json!("5"))));
        assert_eq!(field(json!({ "type": "integer" }), true).read(" 5 "), Ok(Some(json!(5))));
        assert_eq!(field(json!({ "type": "number" }), true).read("5"), Ok(Some(json!(5.0))));
        assert_eq!(field(json!({ "type": "boolean" }), true).read("No"), Ok(Some(json!(false))));
        assert_eq!(field(json!({ "type": "string" }), false).read(""), Ok(None));
        let refused = [
            (json!({ "type": "string" }), "", "this field is required"),
            (json!({ "type": "integer" }), "five", "not a whole number"),
            (json!({ "type": "integer", "minimum": 1 }), "0", "0 is less than the minimum of 1"),
            (json!({ "type": "string", "pattern": "^[a-z]+$" }), "A1", "\"A1\" does not match \"^[a-z]+$\""),
            (json!({ "type": "string", "format": "date" }), "soon", "\"soon\" is not a \"date\""),
            (json!({ "type": "boolean" }), "maybe", "type y for yes or n for no"),
            (json!({ "type": "array" }), "[", "not JSON: EOF while parsing a list at line 1 column 1"),
        ];
        for (schema, typed, why) in refused {
            assert_eq!(field(schema, true).read(typed), Err(why.to_owned()));
        }
    }

    #[test]
    fn a_yes_never_follows_from_an_empty_answer() {
        assert!(field(json!({ "type": "boolean", "default": true }), false).read("").is_err());
        assert_eq!(field(json!({ "type": "boolean", "default": false }), true).read(""), Ok(None));
    }
}
