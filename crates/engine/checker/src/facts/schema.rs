//! Guarantees that JSON Schemas give about a field.

use interlock_chart::model::Schema;

/// Returns the schema of a field by following `properties`, or `None` if the schema does not mention the field.
pub(super) fn at<'s>(schema: &'s Schema, path: &[String]) -> Option<&'s Schema> {
    path.iter().try_fold(schema, |schema, name| schema.get("properties")?.get(name))
}

/// Returns true if every value that fits the schema has the field.
pub(super) fn requires(schema: &Schema, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let names = schema.get("required").and_then(Schema::as_array);
    let is_required = names.is_some_and(|names| names.iter().any(|name| name == first.as_str()));
    // The runtime fills in defaults, so a field with a default exists too.
    let field = schema.get("properties").and_then(|fields| fields.get(first));
    let is_there = is_required || field.is_some_and(|field| field.get("default").is_some());
    is_there && field.map_or(rest.is_empty(), |field| requires(field, rest))
}

/// The one JSON type that a schema allows.
pub(super) fn kind(schema: &Schema) -> Option<&str> {
    schema.get("type").and_then(Schema::as_str)
}

/// The values that a schema allows, if it lists them and they are strings.
pub(super) fn listed(schema: &Schema) -> Option<Vec<&str>> {
    if let Some(value) = schema.get("const").and_then(Schema::as_str) {
        return Some(vec![value]);
    }
    schema.get("enum")?.as_array()?.iter().map(Schema::as_str).collect()
}
