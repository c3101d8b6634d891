//! Checks the fields of `with` against the schema that the activity publishes.
//!
//! Expressions have an unknown type and fit everything. A null field counts as missing, as it does when the activity
//! runs.

use interlock_chart::{
    Diagnostic,
    catalogue::Entry,
    model::{Invoke, Schema},
};
use interlock_suggest::did_you_mean;
use serde_json::Value as Json;

use super::shape::Shape;

/// Reports fields that the activity does not know, fields that it needs, and fields that it cannot use.
pub(super) fn check(invoke: &Invoke, entry: &Entry, found: &mut Vec<Diagnostic>) {
    let Shape::Map(fields) = Shape::of(&invoke.with) else { return };
    let mut look = Look { invoke, found };
    look.object(&fields, &entry.with, &mut Vec::new());
}

struct Look<'a> {
    invoke: &'a Invoke,
    found: &'a mut Vec<Diagnostic>,
}

impl Look<'_> {
    /// Reports at the field of `with` that the path begins with, or at the activity if the path is empty.
    fn report(&mut self, code: &'static str, path: &[&str], message: String, hint: Option<String>) {
        let span = path.first().map_or(self.invoke.span, |key| self.invoke.key_span(key));
        self.found.push(Diagnostic::error(code, span, message).maybe_hint(hint));
    }

    fn object<'s>(&mut self, fields: &[(&'s str, Shape<'s>)], schema: &Schema, path: &mut Vec<&'s str>) {
        let properties = schema.get("properties").and_then(Json::as_object);
        let others = schema.get("additionalProperties");
        let given = |name: &str| fields.iter().any(|(known, shape)| *known == name && !matches!(shape, Shape::Null));
        for name in schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
            if !given(name) {
                let message = format!("`{}` needs `{}`", self.invoke.activity, joined(path, name));
                self.report("E0703", path, message, Some(format!("write `{name}: …` under `with`")));
            }
        }
        for (name, shape) in fields.iter().filter(|(_, shape)| !matches!(shape, Shape::Null)) {
            path.push(name);
            match (properties.and_then(|known| known.get(*name)), others) {
                (Some(schema), _) | (None, Some(schema @ Json::Object(_))) => self.value(shape, schema, path),
                (None, Some(Json::Bool(false))) => self.unknown(properties, path),
                _ => {}
            }
            path.pop();
        }
    }

    fn unknown(&mut self, properties: Option<&serde_json::Map<String, Json>>, path: &[&str]) {
        let (name, known) = (path.last().copied().unwrap_or_default(), properties.into_iter().flatten());
        let known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
        let message = format!("`{}` has no argument `{}`", self.invoke.activity, path.join("."));
        let hint = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.is_empty() {
            true => "it has no arguments".to_owned(),
            false => format!("its arguments are {}", known.join(", ")),
        });
        self.report("E0702", path, message, Some(hint));
    }

    fn value<'s>(&mut self, shape: &Shape<'s>, schema: &Schema, path: &mut Vec<&'s str>) {
        let choices = schema.get("anyOf").and_then(Json::as_array).into_iter().flatten();
        // The alternative of the same type gives the best message about an error inside the value.
        let schema =
            choices.into_iter().find(|choice| types(choice).iter().any(|ty| shape.can_be(ty))).unwrap_or(schema);
        if let Some(why) = misfit(shape, schema) {
            let message = format!("`with.{}` of `{}` {why}", path.join("."), self.invoke.activity);
            return self.report("E0704", path, message, None);
        }
        match shape {
            Shape::Map(fields) => self.object(fields, schema, path),
            Shape::List(items) => {
                if let Some(schema) = schema.get("items") {
                    items.iter().for_each(|item| self.value(item, schema, path));
                }
            }
            _ => {}
        }
    }
}

/// Returns the reason why a value does not fit, apart from its contents. If the schema has alternatives, none of them
/// fits at this point.
fn misfit(shape: &Shape<'_>, schema: &Schema) -> Option<String> {
    if let Some(choices) = schema.get("anyOf").and_then(Json::as_array) {
        let words: Vec<String> = choices.iter().map(wanted).collect();
        return Some(format!("must be {}, not {}", words.join(" or "), shape.word()));
    }
    if !types(schema).is_empty() && !types(schema).iter().any(|ty| shape.can_be(ty)) {
        return Some(format!("must be {}, not {}", wanted(schema), shape.word()));
    }
    if let (Shape::Text(Some(text)), Some(words)) = (shape, schema.get("enum").and_then(Json::as_array)) {
        let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
        if !words.contains(text) {
            return Some(format!("must be one of {}, not `{text}`", words.join(", ")));
        }
    }
    let least = schema.get("minimum").and_then(Json::as_f64)?;
    let number = match shape {
        Shape::Int(number) => *number as f64,
        Shape::Float(number) => *number,
        _ => return None,
    };
    (number < least).then(|| format!("must be at least {least}, not {number}"))
}

fn types(schema: &Schema) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(ty)) => vec![ty],
        Some(Json::Array(types)) => types.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn wanted(schema: &Schema) -> String {
    let word = |ty: &&str| match *ty {
        "string" => "a string",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "array" => "a list",
        "object" => "a map",
        _ => "something else",
    };
    types(schema).iter().map(word).collect::<Vec<_>>().join(" or ")
}

fn joined(path: &[&str], name: &str) -> String {
    path.iter().copied().chain([name]).collect::<Vec<_>>().join(".")
}
