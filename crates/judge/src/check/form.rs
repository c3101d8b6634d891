//! What an answer to a question has to look like: as validators for us, and as a schema for whoever answers.

use serde_json::{Value, json};

use super::{
    FIELDS, Problem,
    shape::{self, Bounds},
    short,
};
use crate::{AllowedSignal, Question};

/// How long a reason is where a server can be made to keep to it.
const REASON_CHARS: usize = 400;

/// What an answer to a question has to look like.
#[derive(Debug)]
pub struct Form {
    signals: Vec<Expected>,
    schema: Value,
    subset: Option<Value>,
    bounded: Option<Value>,
}

/// What one signal may carry.
#[derive(Debug)]
struct Expected {
    name: String,
    /// What the machine declares.
    declared: jsonschema::Validator,
    /// What the schema that the state names says, and about which part.
    named: Option<(Place, jsonschema::Validator)>,
    /// Fields that repeat the signal's name, as `status` does in a decision.
    echoes: Vec<String>,
    /// The same for whoever answers.
    shape: Value,
}

/// The part of a signal's data that a named schema is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// All of it.
    Whole,
    /// The one field that the machine leaves open.
    Field(String),
}

impl Form {
    /// Of a question. Fails where a schema is none, or where no signal can carry what it describes.
    pub fn new(question: &Question) -> Result<Self, String> {
        let names: Vec<&str> = question.signals.iter().map(|signal| signal.name.as_str()).collect();
        let places = places(question);
        let signals = question.signals.iter().zip(places);
        let signals = signals.map(|(signal, place)| Expected::new(signal, place, &question.schema, &names));
        let signals: Vec<Expected> = signals.collect::<Result<_, _>>()?;
        if !question.schema.is_null() && signals.iter().all(|signal| signal.named.is_none()) {
            return Err(format!("none of the signals {} carries what the schema describes", names.join(", ")));
        }
        let schema = answer(question, &signals);
        let subset = shape::subset(&schema, Bounds::Dropped);
        let bounded = shape::subset(&schema, Bounds::Kept);
        Ok(Form { signals, schema, subset, bounded })
    }

    /// The schema of the whole answer.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The same for servers that enforce a schema: every field required, none besides, and only what all of them know. None, where
    /// the data is open and so cannot be enforced.
    pub fn subset(&self) -> Option<&Value> {
        self.subset.as_ref()
    }

    /// The same with lengths and numbers bounded, for servers that know how.
    pub fn bounded(&self) -> Option<&Value> {
        self.bounded.as_ref()
    }

    /// What each signal may carry, with the ids that references can be to, and its own name where that is repeated.
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
            Some((Place::Whole, validator)) => report(validator, data, "data", problems),
            Some((Place::Field(name), validator)) => {
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
    fn new(signal: &AllowedSignal, place: Option<Place>, schema: &Value, names: &[&str]) -> Result<Self, String> {
        // Where the named schema is about all of it, that one says which fields there are.
        let declared = if place == Some(Place::Whole) { signal.data.clone() } else { shape::closed(&signal.data) };
        let compiled = compile(&declared).map_err(|why| format!("the data of {}: {why}", signal.name))?;
        let closed = shape::closed(schema);
        let named = place.clone().map(|place| compile(&closed).map(|validator| (place, validator)));
        let named = named.transpose().map_err(|why| format!("the named schema: {why}"))?;
        let echoes = place.as_ref().filter(|place| **place == Place::Whole).map(|_| shape::echoes(schema, names));
        let shape = match place {
            None => shape::inlined(&declared),
            Some(Place::Whole) => shape::inlined(&closed),
            Some(Place::Field(name)) => {
                let mut shape = shape::inlined(&declared);
                shape["properties"][name] = shape::inlined(&closed);
                shape
            }
        };
        Ok(Expected { name: signal.name.clone(), declared: compiled, named, echoes: echoes.unwrap_or_default(), shape })
    }
}

/// Which part of each signal's data the named schema is about: the one object that is left open; or, where no signal has such a one, all
/// of it for those signals whose needs the schema knows. The others are about something else, as one that says "it cannot be done" is.
fn places(question: &Question) -> Vec<Option<Place>> {
    let places: Vec<_> = question.signals.iter().map(|signal| place(&signal.data, &question.schema)).collect();
    let has_field = places.iter().any(|place| matches!(place, Some(Place::Field(_))));
    places.into_iter().map(|place| place.filter(|place| !has_field || *place != Place::Whole)).collect()
}

fn place(data: &Value, schema: &Value) -> Option<Place> {
    let known = schema.get("properties")?.as_object()?;
    let fields = data.get("properties")?.as_object()?;
    let mut open = fields.iter().filter(|(_, field)| field["type"] == "object" && field.get("properties").is_none());
    if let (Some((name, _)), None) = (open.next(), open.next()) {
        return Some(Place::Field(name.clone()));
    }
    let needed = data.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_known = |name: &Value| name.as_str().is_some_and(|name| known.contains_key(name));
    (!needed.is_empty() && needed.iter().all(is_known)).then_some(Place::Whole)
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
    jsonschema::draft202012::new(schema).map_err(|error| format!("is no JSON Schema: {error}"))
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

/// `/steps/0/title` as `data.steps[0].title`.
fn place_of(root: &str, pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("[{part}]"),
        false => format!(".{}", part.replace("~1", "/").replace("~0", "~")),
    });
    std::iter::once(root.to_owned()).chain(parts).collect()
}
