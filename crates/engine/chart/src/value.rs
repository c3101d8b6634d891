//! The data of machines: JSON values that are cheap to clone.
//!
//! Strings, lists and maps are shared, so copying data from an event to the context costs only a reference count. The
//! keys of a map are ordered by name, so equal data is always written in the same way.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A JSON value that distinguishes integers from floating-point numbers, as CEL does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// The value `null`.
    #[default]
    Null,
    /// The value `true` or `false`.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A string, shared between clones.
    Str(Arc<str>),
    /// A list of values.
    List(Arc<[Value]>),
    /// An object, ordered by key.
    Map(Arc<BTreeMap<Arc<str>, Value>>),
}

impl Value {
    /// Returns the field `name` of a map, or `None` for another kind of value or a missing field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Map(fields) => fields.get(name),
            _ => None,
        }
    }

    /// Returns the string, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the name of this kind of value for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "double",
            Value::Str(_) => "string",
            Value::List(_) => "list",
            Value::Map(_) => "map",
        }
    }

    /// Creates a map from pairs.
    pub fn map<K: Into<Arc<str>>>(fields: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(fields.into_iter().map(|(name, value)| (name.into(), value)).collect()))
    }

    /// Returns an empty map, which is the data of an event without data.
    pub fn empty() -> Value {
        Value::Map(Arc::default())
    }
}

/// Formats the value for a reason or a message: a string bare, everything else as JSON.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Str(text) => out.write_str(text),
            other => write!(out, "{}", serde_json::Value::from(other)),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Str(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Str(text.into()),
            Json::Array(items) => Value::List(items.into_iter().map(Value::from).collect()),
            Json::Object(fields) => Value::map(fields.into_iter().map(|(name, value)| (name, Value::from(value)))),
        }
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Int(value) => (*value).into(),
            Value::Float(value) => serde_json::Number::from_f64(*value).map_or(serde_json::Value::Null, Into::into),
            Value::Str(text) => text.as_ref().into(),
            Value::List(items) => items.iter().map(serde_json::Value::from).collect::<Vec<_>>().into(),
            Value::Map(fields) => serde_json::Value::Object(
                fields.iter().map(|(name, value)| (name.to_string(), serde_json::Value::from(value))).collect(),
            ),
        }
    }
}

impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            // JSON has only finite numbers, so the others become `null`.
            Value::Float(value) if !value.is_finite() => serializer.serialize_unit(),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Str(text) => serializer.serialize_str(text),
            Value::List(items) => serializer.collect_seq(items.iter()),
            Value::Map(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (&**name, value))),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Value {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(Value::from)
    }
}
