//! Strict parser for untrusted JSON: duplicate fields, excessive nesting and text around the object are errors.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{ANSWER_BYTES_MAX, Problem};

/// The maximum nesting depth of an answer.
pub const DEPTH_MAX: usize = 32;

/// Parses the text as exactly one JSON object.
pub(crate) fn parse(said: &str) -> Result<Value, Problem> {
    if said.len() > ANSWER_BYTES_MAX {
        return Err(Problem::new("answer", format!("is longer than {ANSWER_BYTES_MAX} bytes")));
    }
    let text = unfenced(said.trim());
    if text.is_empty() {
        return Err(Problem::new("answer", "is empty"));
    }
    if !text.starts_with('{') {
        let begins: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(40).collect();
        return Err(Problem::new(
            "answer",
            format!("must be one JSON object and nothing else; it begins with `{begins}`"),
        ));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0 }.deserialize(&mut reader).map_err(|error| wrong(&error))?;
    reader.end().map_err(|_| Problem::new("answer", "has text after its JSON object; nothing else is allowed"))?;
    Ok(value)
}

fn wrong(error: &serde_json::Error) -> Problem {
    match error.is_eof() {
        true => Problem::new("answer", format!("ends before its JSON is complete ({error})")),
        false => Problem::new("answer", format!("is not the JSON that was asked for: {error}")),
    }
}

/// Removes the one code fence that chat models put around JSON.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|inner| inner.strip_prefix("json").unwrap_or(inner));
    inner.map_or(text, str::trim)
}

/// Deserializes a JSON value and rejects duplicate fields and excessive nesting.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth < DEPTH_MAX {
            true => Ok(Strict { depth: self.depth + 1 }),
            false => Err(E::custom(format!("it is nested deeper than {DEPTH_MAX}"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let (deeper, mut items) = (self.deeper()?, Vec::new());
        while let Some(item) = from.next_element_seed(deeper)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let (deeper, mut fields) = (self.deeper()?, Map::new());
        while let Some(name) = from.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format!("the field `{name}` occurs twice")));
            }
            let value = from.next_value_seed(deeper)?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}
