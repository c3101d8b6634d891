//! Converts a JSON Schema to a type.
//!
//! This reads only the part of JSON Schema that describes fields. A validator decides elsewhere, when a value arrives,
//! whether it fits its schema.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Type;

/// The maximum nesting depth of a type. Deeper parts are unknown. A schema may refer to itself.
const NESTING_MAX: usize = 12;

/// The maximum number of schemas that are read for one type, because references can double at every level.
const SCHEMAS_MAX: usize = 4_096;

impl Type {
    /// Returns the type of values that fit a JSON Schema.
    ///
    /// An object with `properties` is closed, so that misspelt fields are found, unless it has
    /// `additionalProperties: true` or a schema for them. References are followed within the document (`#/$defs/…`).
    pub fn of_schema(schema: &Json) -> Type {
        Reader { document: schema, left: SCHEMAS_MAX }.read(schema, NESTING_MAX)
    }
}

struct Reader<'a> {
    document: &'a Json,
    /// The number of schemas that may still be read.
    left: usize,
}

impl Reader<'_> {
    fn read(&mut self, schema: &Json, depth: usize) -> Type {
        if depth == 0 || self.left == 0 {
            return Type::Dyn;
        }
        self.left -= 1;
        if let Some(reference) = schema.get("$ref") {
            return self.referenced(reference, depth);
        }
        if let Some(constant) = schema.get("const") {
            return of_constants(std::slice::from_ref(constant));
        }
        if let Some(Json::Array(constants)) = schema.get("enum") {
            return of_constants(constants);
        }
        for choice in ["oneOf", "anyOf", "allOf"] {
            if let Some(Json::Array(branches)) = schema.get(choice) {
                return self.branches(branches, depth);
            }
        }
        self.by_type(schema, depth)
    }

    fn referenced(&mut self, reference: &Json, depth: usize) -> Type {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        match pointer.and_then(|pointer| self.document.pointer(pointer)) {
            Some(schema) => self.read(schema, depth - 1),
            None => Type::Dyn,
        }
    }

    /// Returns the type of all branches if they agree; otherwise it is unknown.
    fn branches(&mut self, branches: &[Json], depth: usize) -> Type {
        let mut types = branches.iter().map(|branch| self.read(branch, depth - 1));
        let Some(first) = types.next() else { return Type::Dyn };
        if types.all(|other| other == first) { first } else { Type::Dyn }
    }

    fn by_type(&mut self, schema: &Json, depth: usize) -> Type {
        match schema.get("type") {
            Some(Json::String(name)) => self.named(name, schema, depth),
            Some(Json::Array(names)) => {
                let types = names.iter().map(|name| self.named(name.as_str().unwrap_or(""), schema, depth));
                Type::join_all(types.collect::<Vec<_>>())
            }
            _ if schema.get("properties").is_some() => self.object(schema, depth),
            _ if schema.get("items").is_some() => self.array(schema, depth),
            _ => Type::Dyn,
        }
    }

    fn named(&mut self, name: &str, schema: &Json, depth: usize) -> Type {
        match name {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "integer" => Type::Int,
            "number" => Type::Double,
            "string" => Type::Str(None),
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            _ => Type::Dyn,
        }
    }

    fn array(&mut self, schema: &Json, depth: usize) -> Type {
        let items = schema.get("items").map_or(Type::Dyn, |items| self.read(items, depth - 1));
        Type::List(Box::new(items))
    }

    fn object(&mut self, schema: &Json, depth: usize) -> Type {
        let Some(Json::Object(properties)) = schema.get("properties") else { return Type::open_map() };
        let fields: BTreeMap<String, Type> =
            properties.iter().map(|(name, schema)| (name.clone(), self.read(schema, depth - 1))).collect();
        let others = schema.get("additionalProperties");
        let open =
            others.is_some_and(|others| *others != Json::Bool(false)) || schema.get("patternProperties").is_some();
        Type::Map { fields, open }
    }
}

/// Returns the type of listed values. `null` beside strings is omitted: any value may be compared with it.
fn of_constants(constants: &[Json]) -> Type {
    let strings: Vec<String> = constants.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    let nulls = constants.iter().filter(|constant| constant.is_null()).count();
    if !strings.is_empty() && strings.len() + nulls == constants.len() {
        return Type::Str(Some(strings));
    }
    Type::join_all(constants.iter().map(|constant| match constant {
        Json::Null => Type::Null,
        other => Type::of_value(&other.clone().into()),
    }))
}
