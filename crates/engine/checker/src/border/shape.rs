//! The shape of a value before a run: literal parts with their types, and parts that an expression will compute.

use interlock_chart::{Value, model::Template};

/// A value, as far as it is known.
pub(super) enum Shape<'v> {
    /// The result of an expression.
    Unknown,
    Null,
    Bool,
    Int(i64),
    Float(f64),
    /// A string, with its text if it is literal.
    Text(Option<&'v str>),
    List(Vec<Shape<'v>>),
    Map(Vec<(&'v str, Shape<'v>)>),
}

impl<'v> Shape<'v> {
    pub(super) fn of(template: &'v Template) -> Self {
        match template {
            Template::Literal(value) => Shape::literal(value),
            Template::Expr(_) => Shape::Unknown,
            Template::Text(_) => Shape::Text(None),
            Template::List(items) => Shape::List(items.iter().map(Shape::of).collect()),
            Template::Map(fields) => {
                Shape::Map(fields.iter().map(|(name, value)| (name.as_str(), Shape::of(value))).collect())
            }
        }
    }

    fn literal(value: &'v Value) -> Self {
        match value {
            Value::Null => Shape::Null,
            Value::Bool(_) => Shape::Bool,
            Value::Int(number) => Shape::Int(*number),
            Value::Float(number) => Shape::Float(*number),
            Value::Str(text) => Shape::Text(Some(text)),
            Value::List(items) => Shape::List(items.iter().map(Shape::literal).collect()),
            Value::Map(fields) => {
                Shape::Map(fields.iter().map(|(name, value)| (&**name, Shape::literal(value))).collect())
            }
        }
    }

    /// Returns true if a value of this shape can have the given JSON Schema type.
    pub(super) fn can_be(&self, ty: &str) -> bool {
        match self {
            Shape::Unknown => true,
            Shape::Null => ty == "null",
            Shape::Bool => ty == "boolean",
            Shape::Int(_) => matches!(ty, "integer" | "number"),
            Shape::Float(number) => ty == "number" || (ty == "integer" && number.fract() == 0.0),
            Shape::Text(_) => ty == "string",
            Shape::List(_) => ty == "array",
            Shape::Map(_) => ty == "object",
        }
    }

    /// The word for this shape in messages.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Shape::Unknown => "a value",
            Shape::Null => "null",
            Shape::Bool => "a truth value",
            Shape::Int(_) | Shape::Float(_) => "a number",
            Shape::Text(_) => "a string",
            Shape::List(_) => "a list",
            Shape::Map(_) => "a map",
        }
    }
}
