//! JSON values: a string is judged by its content and by the name of its field.

use serde_json::Value;

use crate::{Redactor, names};

impl Redactor {
    /// Redacts every string of a value. Returns true if anything changed.
    pub fn json(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.replace(text, None),
            Value::Array(items) => self.list(items),
            Value::Object(fields) => {
                let pair = pair(fields);
                let mut is_changed = false;
                for (name, field) in fields.iter_mut() {
                    let name = if name == "value" { pair.as_deref().unwrap_or(name) } else { name };
                    is_changed |= match field {
                        Value::String(text) => self.replace(text, Some(name)),
                        other => self.json(other),
                    };
                }
                is_changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Redacts a list, which may be a command: `["--token", "…"]`.
    fn list(&self, items: &mut [Value]) -> bool {
        let mut flag: Option<String> = None;
        let mut is_changed = false;
        for item in items {
            is_changed |= match &mut *item {
                Value::String(text) => self.replace(text, flag.as_deref()),
                other => self.json(other),
            };
            let is_flag = |text: &&str| text.starts_with('-') && !text.contains(['=', ' ']);
            flag = item.as_str().filter(is_flag).map(|text| text.trim_start_matches('-').to_owned());
        }
        is_changed
    }

    fn replace(&self, text: &mut String, name: Option<&str>) -> bool {
        let is_whole = |(start, end, _): &names::Secret| text.is_char_boundary(*start) && text.is_char_boundary(*end);
        let named = name.and_then(|name| names::named(name, text)).filter(is_whole);
        if let Some((start, end, kind)) = named {
            text.replace_range(start..end, &format!("{}{kind}]", crate::hints::MARK));
        }
        let redacted = match self.text(text) {
            std::borrow::Cow::Owned(redacted) => Some(redacted),
            std::borrow::Cow::Borrowed(_) => None,
        };
        let is_changed = named.is_some() || redacted.is_some();
        redacted.into_iter().for_each(|redacted| *text = redacted);
        is_changed
    }
}

/// Returns the name that applies to the value in `{"name": "DB_PASSWORD", "value": "…"}`.
fn pair(fields: &serde_json::Map<String, Value>) -> Option<String> {
    let name = fields.get("name").or_else(|| fields.get("key"))?.as_str()?;
    fields.contains_key("value").then(|| name.to_owned())
}
