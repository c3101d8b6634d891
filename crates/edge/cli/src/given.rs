//! Reads the input of runs and the data of events: files, standard input, and fields on the command line.

use std::{io::Read as _, path::Path};

use interlock_chart::{Value, catalogue::MEANING, model::Schema, yaml};
use interlock_suggest::did_you_mean_or_list;
use serde_json::{Map, Value as Json, json};

use crate::failure::Failure;

/// The input by which a conversation ends after one turn.
const ONCE: &str = "once";

/// Reads the input of a run: a file's content, overridden by the fields of `--set`.
pub(crate) fn input(file: Option<&Path>, set: &[String], schema: &Schema) -> Result<Value, Failure> {
    let mut input = file.map_or(Ok(json!({})), read)?;
    check_fields(&input, schema)?;
    for pair in set {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| Failure::bad_input(format!("`--set {pair}` is not of the form K=V")))?;
        put(&mut input, name, value, schema)?;
    }
    Ok(Value::from(input))
}

/// Fills in the missing fields that the schema marks with `x-interlock: terminal`: whether the run is started on a
/// terminal. The value is part of the recorded input, so the machine means the same wherever it is resumed.
pub(crate) fn with_terminal(input: Value, schema: &Schema, is_terminal: bool) -> Value {
    let fields = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    let wanted = fields.filter(|(_, field)| field.get(MEANING).is_some_and(|meaning| meaning == "terminal"));
    let mut json = Json::from(&input);
    let Json::Object(given) = &mut json else { return input };
    for (name, _) in wanted {
        given.entry(name.as_str()).or_insert(Json::Bool(is_terminal));
    }
    Value::from(json)
}

/// Sets the input `once` of a conversation that nobody can continue here: without a terminal, it ends after one turn. An
/// input that says otherwise is kept.
pub(crate) fn once_without_terminal(input: Value, schema: &Schema, is_terminal: bool) -> Value {
    let has_field = schema["properties"][ONCE]["type"] == "boolean";
    match Json::from(&input) {
        Json::Object(mut fields) if has_field && !is_terminal && !fields.contains_key(ONCE) => {
            fields.insert(ONCE.to_owned(), true.into());
            Value::from(Json::Object(fields))
        }
        _ => input,
    }
}

/// Reads the data of an event: JSON, or `@` and the file that holds it.
pub(crate) fn data(said: Option<&str>) -> Result<Value, Failure> {
    let json = match said.map(|said| (said, said.strip_prefix('@'))) {
        None => json!({}),
        Some((_, Some(path))) => read(Path::new(path))?,
        Some((text, None)) => serde_json::from_str(text).map_err(|error| {
            Failure::bad_input(format!("the data is not JSON: {error}")).hint("--data '{\"field\": \"value\"}'")
        })?,
    };
    Ok(Value::from(json))
}

/// Reads JSON or YAML from a file or, for `-`, from stdin.
pub(crate) fn read(path: &Path) -> Result<Json, Failure> {
    let text = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| Failure::file("read", Path::new("stdin"), &error))?;
        text
    } else {
        std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?
    };
    let wrong = match serde_json::from_str(&text) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    if path.extension().is_some_and(|end| end == "json") {
        return Err(Failure::bad_input(format!("{} is not JSON: {wrong}", path.display())));
    }
    yaml::to_json(&text).map_err(|problems| {
        let said = problems.iter().map(|problem| {
            let (line, column) = problem.line_col(&text);
            format!("line {line}, column {column}: {}", problem.message)
        });
        let said: Vec<String> = said.collect();
        Failure::bad_input(format!("{} cannot be read: {}", path.display(), said.join("; ")))
    })
}

/// Sets the field with this dotted name. If the schema calls it a string, the value is taken literally and not parsed
/// as JSON.
fn put(into: &mut Json, name: &str, value: &str, schema: &Schema) -> Result<(), Failure> {
    let (mut place, mut schema) = (into, Some(schema));
    let mut known = input_fields(schema.unwrap_or(&Json::Null));
    for part in name.split('.') {
        let Json::Object(fields) = place else {
            return Err(Failure::bad_input(format!("`--set {name}`: `{place}` has no fields")));
        };
        if let Some(known) = known.filter(|known| !known.contains(&part)) {
            return Err(unknown(&format!("`--set {name}`: "), part, known));
        }
        place = fields.entry(part).or_insert_with(|| Json::Object(Map::new()));
        schema = schema.and_then(|schema| schema.get("properties")?.get(part));
        known = schema.and_then(known_fields);
    }
    let is_text = schema.and_then(|schema| schema.get("type")).is_some_and(|kind| kind == "string");
    let text = || Json::String(value.to_owned());
    *place = if is_text { text() } else { serde_json::from_str(value).unwrap_or_else(|_| text()) };
    Ok(())
}

/// Refuses fields of the input that its schema does not declare. A schema that forbids other fields itself refuses them when
/// the run is created.
fn check_fields(given: &Json, schema: &Schema) -> Result<(), Failure> {
    let known = input_fields(schema).filter(|_| schema.get("additionalProperties").is_none());
    let given = given.as_object().into_iter().flatten().map(|(name, _)| name);
    match known.and_then(|known| Some((given.clone().find(|name| !known.contains(&name.as_str()))?, known))) {
        Some((name, known)) => Err(unknown("", name, known)),
        None => Ok(()),
    }
}

fn unknown(place: &str, name: &str, known: Vec<&str>) -> Failure {
    let failure = Failure::bad_input(format!("{place}the input has no field `{name}`"));
    match known.is_empty() {
        true => failure.hint("the machine declares no `input`, so it takes none"),
        false => failure.maybe_hint(did_you_mean_or_list(name, "the fields are", known)),
    }
}

/// Returns the names of the fields that the schema of an input declares, or `None` if it allows others. A schema that says
/// nothing, such as that of a machine without `input`, has none.
fn input_fields(schema: &Schema) -> Option<Vec<&str>> {
    let says_nothing = |fields: &Map<String, Json>| fields.keys().all(|word| word == "type");
    let is_missing = *schema == Json::Bool(true) || schema.as_object().is_some_and(says_nothing);
    if is_missing { Some(Vec::new()) } else { known_fields(schema) }
}

/// Returns the names of the fields that a schema declares, or `None` if it allows others. A misspelled name
/// would be an input that nothing reads, so the default of JSON Schema, which allows any other field, does not count.
fn known_fields(schema: &Schema) -> Option<Vec<&str>> {
    const OPEN: [&str; 8] =
        ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "additionalProperties", "dependentSchemas"];
    let is_open = |word: &&str| schema.get(word).is_some_and(|says| *says != Json::Bool(false));
    let fields = schema.get("properties")?.as_object()?;
    (!OPEN.iter().any(is_open)).then(|| fields.keys().map(String::as_str).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(set: &[&str], expected: Json) {
        let text = json!({ "type": "string" });
        let deep = json!({ "properties": { "id": text }, "additionalProperties": {} });
        let schema = json!({ "properties": { "goal": text, "count": {}, "word": {}, "free": {}, "deep": deep } });
        let set: Vec<String> = set.iter().map(|pair| (*pair).to_owned()).collect();
        let made = input(None, &set, &schema).unwrap_or(Value::Null);
        assert_eq!(Json::from(&made), expected, "{set:?}");
    }

    #[test]
    fn a_missing_field_about_the_terminal_is_filled_in() {
        let schema = json!({ "properties": { "stay": { "x-interlock": "terminal" }, "other": {} } });
        let filled = |given: Json, is_terminal| Json::from(&with_terminal(Value::from(given), &schema, is_terminal));
        assert_eq!(filled(json!({}), true), json!({ "stay": true }));
        assert_eq!(filled(json!({ "other": 1 }), false), json!({ "other": 1, "stay": false }));
        assert_eq!(filled(json!({ "stay": false }), true), json!({ "stay": false }));
    }

    #[test]
    fn a_field_that_the_machine_does_not_declare_is_refused() {
        let refused = |set: &[&str], schema: Json| {
            let set: Vec<String> = set.iter().map(|pair| (*pair).to_owned()).collect();
            input(None, &set, &schema).is_err()
        };
        assert!(
            refused(&["foo=1"], json!({ "type": "object" })) && refused(&["foo=1"], json!(true)),
            "there is no input"
        );
        assert!(!refused(&[], json!({})));
        let schema = json!({ "properties": { "goal": {} } });
        let given = |given: Json, schema: &Json| check_fields(&given, schema).is_ok();
        assert!(given(json!({ "goal": 1 }), &schema) && !given(json!({ "gaol": 1 }), &schema));
        assert!(given(json!({ "gaol": 1 }), &json!({ "properties": {}, "additionalProperties": true })));
    }

    #[test]
    fn fields_are_set_by_their_dotted_names_and_typed_by_the_schema() {
        check(&["goal=5", "count=5", "word=five"], json!({ "goal": "5", "count": 5, "word": "five" }));
        check(&["deep.id=7", "deep.n=7", "deep.list=[1,2]"], json!({ "deep": { "id": "7", "n": 7, "list": [1, 2] } }));
        check(&["goal=a=b"], json!({ "goal": "a=b" }));
        check(&["goal"], Json::Null);
        check(&["free.any=1"], json!({ "free": { "any": 1 } }));
        check(&["gaol=x"], Json::Null);
        check(&["deep.other=1", "goal=x"], json!({ "deep": { "other": 1 }, "goal": "x" }));
        check(&["goal=x", "goal.inner=y"], Json::Null);
    }
}
