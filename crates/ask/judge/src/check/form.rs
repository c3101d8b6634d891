//! The required form of an answer: validators for local checks, and a JSON Schema for the model or person that answers.

use serde_json::{Value, json};

use super::{
    FIELDS, Problem,
    shape::{self, Bounds},
    short,
};
use crate::{AllowedSignal, Question};

/// The maximum length of a reason, for servers that can enforce a length.
const REASON_CHARS: usize = 400;

/// The required form of an answer to one question.
#[derive(Debug)]
pub struct Form {
    signals: Vec<Expected>,
    schema: Value,
    subset: Option<Value>,
    bounded: Option<Value>,
}

/// The data that one signal may carry.
#[derive(Debug)]
struct Expected {
    name: String,
    /// Validates the data against the schema that the machine declares for the signal.
    declared: jsonschema::Validator,
    /// The schema that the state names, with the part of the data that it describes.
    named: Option<(SchemaPosition, jsonschema::Validator)>,
    /// Fields that must repeat the signal's name, as `status` does in a decision.
    echoes: Vec<String>,
    /// The schema of the data, as it is shown to the judge.
    shape: Value,
}

/// The part of a signal's data that the named schema describes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SchemaPosition {
    /// The named schema describes the whole data object.
    Whole,
    /// The named schema describes the one field whose object type the machine leaves open.
    Field(String),
}

impl Form {
    /// Builds the form of a question. Fails if a schema is not a valid JSON Schema, or if no signal can carry the data
    /// that the named schema describes.
    pub fn new(question: &Question) -> Result<Self, String> {
        let names: Vec<&str> = question.signals.iter().map(|signal| signal.name.as_str()).collect();
        let places = places(question);
        let signals = question.signals.iter().zip(places);
        let signals = signals.map(|(signal, place)| Expected::new(signal, place, &question.schema, &names));
        let signals: Vec<Expected> = signals.collect::<Result<_, _>>()?;
        if !question.schema.is_null() && signals.iter().all(|signal| signal.named.is_none()) {
            return Err(format!("none of the signals {} has data that fits the schema", names.join(", ")));
        }
        let schema = answer(question, &signals);
        let subset = shape::subset(&schema, Bounds::Dropped);
        let bounded = shape::subset(&schema, Bounds::Kept);
        Ok(Form { signals, schema, subset, bounded })
    }

    /// Returns the JSON Schema of the whole answer.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the schema reduced for servers that enforce one: every field is required, no others are allowed, and
    /// only keywords that all servers support are used. `None` if the data is open and therefore cannot be enforced.
    pub fn subset(&self) -> Option<&Value> {
        self.subset.as_ref()
    }

    /// Like [`Form::subset`], but keeps the bounds of lengths and numbers, for servers that support them.
    pub fn bounded(&self) -> Option<&Value> {
        self.bounded.as_ref()
    }

    /// Returns the data schema of each signal, with the evidence ids that references may name. Echo fields are fixed to
    /// the signal's name.
    pub(crate) fn shapes(&self, question: &Question) -> Vec<(String, Value)> {
        let ids: Vec<&str> = question.evidence.iter().map(|exhibit| exhibit.id.as_str()).collect();
        let shape = |signal: &Expected| {
            let mut shape = shape::with_ids(&signal.shape, &ids);
            for name in &signal.echoes {
                shape["properties"][name] = json!({ "const": signal.name });
            }
            (signal.name.clone(), shape)
        };
        self.signals.iter().map(shape).collect()
    }

    pub(super) fn check_data(&self, signal: &str, data: &Value, problems: &mut Vec<Problem>) {
        let Some(expected) = self.signals.iter().find(|expected| expected.name == signal) else { return };
        report(&expected.declared, data, "data", problems);
        match &expected.named {
            Some((SchemaPosition::Whole, validator)) => report(validator, data, "data", problems),
            Some((SchemaPosition::Field(name), validator)) => {
                data.get(name).into_iter().for_each(|part| report(validator, part, &format!("data.{name}"), problems));
            }
            None => {}
        }
        for name in &expected.echoes {
            if let Some(said) = data.get(name).filter(|said| said.as_str() != Some(signal)) {
                problems.push(Problem::new(
                    format!("data.{name}"),
                    format!("is {} although the signal is {signal}", short(said)),
                ));
            }
        }
    }
}

impl Expected {
    fn new(
        signal: &AllowedSignal,
        place: Option<SchemaPosition>,
        schema: &Value,
        names: &[&str],
    ) -> Result<Self, String> {
        // If the named schema describes the whole data object, it also decides which fields exist.
        let declared =
            if place == Some(SchemaPosition::Whole) { signal.data.clone() } else { shape::closed(&signal.data) };
        let compiled = compile(&declared).map_err(|why| format!("the data of {}: {why}", signal.name))?;
        let closed = shape::closed(schema);
        let named = place.clone().map(|place| compile(&closed).map(|validator| (place, validator)));
        let named = named.transpose().map_err(|why| format!("the named schema: {why}"))?;
        let echoes =
            place.as_ref().filter(|place| **place == SchemaPosition::Whole).map(|_| shape::echoes(schema, names));
        let shape = match place {
            None => shape::inlined(&declared),
            Some(SchemaPosition::Whole) => shape::inlined(&closed),
            Some(SchemaPosition::Field(name)) => {
                let mut shape = shape::inlined(&declared);
                shape["properties"][name] = shape::inlined(&closed);
                shape
            }
        };
        Ok(Expected { name: signal.name.clone(), declared: compiled, named, echoes: echoes.unwrap_or_default(), shape })
    }
}

/// Returns the part of each signal's data that the named schema describes: the one object field that is left open. If
/// no signal has such a field, the schema describes the whole data of every signal whose required fields it knows. The
/// other signals carry different data, for example one that reports that the task cannot be done.
fn places(question: &Question) -> Vec<Option<SchemaPosition>> {
    let places: Vec<_> = question.signals.iter().map(|signal| place(&signal.data, &question.schema)).collect();
    let has_field = places.iter().any(|place| matches!(place, Some(SchemaPosition::Field(_))));
    places.into_iter().map(|place| place.filter(|place| !has_field || *place != SchemaPosition::Whole)).collect()
}

fn place(data: &Value, schema: &Value) -> Option<SchemaPosition> {
    let known = schema.get("properties")?.as_object()?;
    let fields = data.get("properties")?.as_object()?;
    let mut open = fields.iter().filter(|(_, field)| field["type"] == "object" && field.get("properties").is_none());
    if let (Some((name, _)), None) = (open.next(), open.next()) {
        return Some(SchemaPosition::Field(name.clone()));
    }
    let needed = data.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_known = |name: &Value| name.as_str().is_some_and(|name| known.contains_key(name));
    (!needed.is_empty() && needed.iter().all(is_known)).then_some(SchemaPosition::Whole)
}

fn answer(question: &Question, signals: &[Expected]) -> Value {
    let ids: Vec<&str> = question.evidence.iter().map(|exhibit| exhibit.id.as_str()).collect();
    let refs = match ids.is_empty() {
        true => json!({ "type": "array", "items": { "type": "string" }, "maxItems": 0 }),
        false => {
            json!({ "type": "array", "items": { "type": "string", "enum": ids }, "minItems": 1, "maxItems": ids.len() })
        }
    };
    let names: Vec<&str> = signals.iter().map(|signal| signal.name.as_str()).collect();
    let data = match signals {
        [one] => one.shape.clone(),
        _ => json!({ "anyOf": signals.iter().map(|signal| &signal.shape).collect::<Vec<_>>() }),
    };
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": FIELDS,
        "properties": {
            "reason": { "type": "string", "minLength": 1, "maxLength": REASON_CHARS, "description": "Why, in a sentence or two, before the verdict" },
            "evidence_refs": refs,
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "signal": { "type": "string", "enum": names },
            "data": data,
        },
    })
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::draft202012::new(schema).map_err(|error| format!("is not a JSON Schema: {error}"))
}

fn report(validator: &jsonschema::Validator, data: &Value, root: &str, problems: &mut Vec<Problem>) {
    for error in validator.iter_errors(data).take(super::PROBLEMS_MAX) {
        let path = place_of(root, &error.instance_path().to_string());
        let problem = Problem::new(path, error.to_string());
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}

/// Converts a JSON pointer to a readable path: `/steps/0/title` becomes `data.steps[0].title`.
fn place_of(root: &str, pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("[{part}]"),
        false => format!(".{}", part.replace("~1", "/").replace("~0", "~")),
    });
    std::iter::once(root.to_owned()).chain(parts).collect()
}
