//! Reading JSON whose shape nobody guarantees: a missing field is empty, never an error.

use serde_json::Value as Json;

/// The elements of an array; none if it is something else.
pub fn list(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

/// A value as text: strings without quotes, null as nothing, everything else as JSON.
pub fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A string that says something.
pub fn words(value: &Json) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}
