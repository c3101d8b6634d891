//! Builds JSON objects and omits empty fields.

use serde::Serialize;
use serde_json::{Map, Value as Json};

/// A JSON object under construction. Its fields keep the order in which they are added.
#[derive(Debug, Default)]
pub(super) struct Object(Map<String, Json>);

impl Object {
    /// Adds a field unless its value is empty: `null`, or an empty string, list or object.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.add(name, value);
        self
    }

    /// Adds a field unless its value is empty.
    pub(super) fn add(&mut self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        if !says_nothing(&value) {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Adds a field even if its value is empty.
    pub(super) fn put(&mut self, name: &str, value: Json) {
        self.0.insert(name.to_owned(), value);
    }

    /// Returns the finished object.
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

/// Returns a single item bare and several items as a list.
pub(super) fn one_or_many(mut items: Vec<Json>) -> Json {
    match items.len() {
        1 => items.pop().unwrap_or_default(),
        _ => Json::Array(items),
    }
}
