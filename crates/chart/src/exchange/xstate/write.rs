//! Making JSON objects whose empty fields are left out.

use serde::Serialize;
use serde_json::{Map, Value as Json};

/// A JSON object in the making, in the order in which its fields are added.
#[derive(Debug, Default)]
pub(super) struct Object(Map<String, Json>);

impl Object {
    /// Adds a field, unless it says nothing: `null`, an empty text, list or object.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.add(name, value);
        self
    }

    /// Adds a field, unless it says nothing.
    pub(super) fn add(&mut self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        if !says_nothing(&value) {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Adds a field in any case.
    pub(super) fn put(&mut self, name: &str, value: Json) {
        self.0.insert(name.to_owned(), value);
    }

    /// The object.
    pub(super) fn json(self) -> Json {
        Json::Object(self.0)
    }
}

fn says_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// One where there is one, else the list.
pub(super) fn one_or_many(mut items: Vec<Json>) -> Json {
    match items.len() {
        1 => items.pop().unwrap_or_default(),
        _ => Json::Array(items),
    }
}
