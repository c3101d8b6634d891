//! Asking a person on a terminal: which of the events that a run takes, and what it carries, field by field as its schema says.

use inquire::{Confirm, InquireError, Select, Text, validator::Validation};
use interlock_chart::model::Schema;
use interlock_runtime::{Offer, Offers};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::sample::{kind, required};

/// What a person said.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The event.
    pub(crate) event: String,
    /// What it carries.
    pub(crate) data: Json,
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) help: Option<String>,
    pub(crate) kind: FieldKind,
    pub(crate) default: Option<Json>,
    pub(crate) is_required: bool,
}

/// How a field is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldKind {
    /// One of these.
    Choice(Vec<Json>),
    /// Yes or no.
    YesNo,
    /// Text as it is.
    Text,
    /// Anything else: JSON.
    Json,
}

/// Asks. Nothing where the person does not want to say anything now.
pub(crate) fn ask(place: &str, offers: &Offers) -> Option<Answer> {
    let failed = failed();
    let by_hand = offers.by_hand.iter().flat_map(|by_hand| by_hand.signals.iter().chain([&failed]));
    let all: Vec<&Offer> = by_hand.chain(&offers.events).collect();
    let offer = choose(place, &all).ok()??;
    let data = fill_in(&offer.data).ok()?;
    Some(Answer { event: offer.event.clone(), data })
}

/// How any activity can end, besides its signals.
fn failed() -> Offer {
    let text = json!({ "type": "string" });
    let data = json!({ "required": ["code", "message"], "properties": { "code": text, "message": text } });
    Offer { event: "error".to_owned(), summary: "It failed".to_owned(), data, is_general: false }
}

fn choose<'o>(place: &str, offers: &[&'o Offer]) -> Result<Option<&'o Offer>, InquireError> {
    const LATER: &str = "nothing now";
    let label = |offer: &&Offer| match offer.summary.as_str() {
        "" => offer.event.clone(),
        summary => format!("{}: {summary}", offer.event),
    };
    let mut labels: Vec<String> = offers.iter().map(label).collect();
    labels.push(LATER.to_owned());
    let chosen = Select::new(&format!("{place} takes"), labels).raw_prompt()?;
    Ok(offers.get(chosen.index).copied())
}

fn fill_in(schema: &Schema) -> Result<Json, InquireError> {
    let mut data = Map::new();
    for field in fields(schema) {
        if let Some(value) = field.ask()? {
            data.insert(field.name.clone(), value);
        }
    }
    Ok(Json::Object(data))
}

/// The fields of a form, in the schema's order.
pub(crate) fn fields(schema: &Schema) -> Vec<Field> {
    let required: Vec<&str> = required(schema).collect();
    let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    let field = |(name, schema): (&String, &Json)| Field {
        name: name.clone(),
        help: schema.get("description").and_then(Json::as_str).map(str::to_owned),
        kind: field_kind(schema),
        default: schema.get("default").cloned(),
        is_required: required.contains(&name.as_str()),
    };
    properties.map(field).collect()
}

fn field_kind(schema: &Schema) -> FieldKind {
    match (schema.get("enum").and_then(Json::as_array), kind(schema)) {
        (Some(values), _) => FieldKind::Choice(values.clone()),
        (None, "boolean") => FieldKind::YesNo,
        (None, "string") => FieldKind::Text,
        (None, _) => FieldKind::Json,
    }
}

impl Field {
    /// What was typed, as the schema's type; nothing where an optional field was left empty.
    pub(crate) fn read(&self, typed: &str) -> Result<Option<Json>, String> {
        match (&self.kind, typed.trim()) {
            (_, "") if !self.is_required => Ok(None),
            (_, "") => Err("it is required".to_owned()),
            (FieldKind::Text, _) => Ok(Some(Json::String(typed.to_owned()))),
            (_, typed) => serde_json::from_str(typed).map(Some).map_err(|error| format!("not JSON: {error}")),
        }
    }

    fn ask(&self) -> Result<Option<Json>, InquireError> {
        match &self.kind {
            FieldKind::Choice(values) => self.ask_choice(values),
            FieldKind::YesNo => {
                let mut question = Confirm::new(&self.name);
                question.help_message = self.help.as_deref();
                question.default = self.default.as_ref().and_then(Json::as_bool);
                question.prompt().map(|yes| Some(Json::Bool(yes)))
            }
            FieldKind::Text | FieldKind::Json => self.ask_text(),
        }
    }

    fn ask_choice(&self, values: &[Json]) -> Result<Option<Json>, InquireError> {
        const NOTHING: &str = "(nothing)";
        let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut words: Vec<String> = values.iter().map(word).collect();
        if !self.is_required {
            words.push(NOTHING.to_owned());
        }
        let start = self.default.as_ref().and_then(|default| values.iter().position(|value| value == default));
        let chosen = Select::new(&self.name, words).with_starting_cursor(start.unwrap_or(0)).raw_prompt()?;
        Ok(values.get(chosen.index).cloned())
    }

    fn ask_text(&self) -> Result<Option<Json>, InquireError> {
        let checked = self.clone();
        let default =
            self.default.as_ref().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let mut question = Text::new(&self.name).with_validator(move |typed: &str| {
            Ok(checked.read(typed).map_or_else(|why| Validation::Invalid(why.into()), |_| Validation::Valid))
        });
        question.help_message = self.help.as_deref();
        question.default = default.as_deref();
        let typed = question.prompt()?;
        self.read(&typed).map_err(|why| InquireError::Custom(why.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_a_field_for_every_property_in_its_order() {
        let schema = json!({ "required": ["why"], "properties": {
            "why": { "type": "string", "description": "In a sentence" }, "how": { "enum": ["fast", "slow"], "default": "slow" },
            "sure": { "type": "boolean" }, "count": { "type": "integer" },
        }});
        let found: Vec<_> =
            fields(&schema).into_iter().map(|field| (field.name, field.kind, field.is_required)).collect();
        let choice = FieldKind::Choice(vec![json!("fast"), json!("slow")]);
        let expected = [
            ("why", FieldKind::Text, true),
            ("how", choice, false),
            ("sure", FieldKind::YesNo, false),
            ("count", FieldKind::Json, false),
        ];
        assert_eq!(found, expected.map(|(name, kind, is_required)| (name.to_owned(), kind, is_required)));
        assert_eq!(fields(&json!(true)), []);
    }

    #[test]
    fn what_is_typed_is_text_or_json_as_the_field_says() {
        let field = |kind, is_required| Field { name: "x".into(), help: None, kind, default: None, is_required };
        assert_eq!(field(FieldKind::Text, true).read("5"), Ok(Some(json!("5"))));
        assert_eq!(field(FieldKind::Json, true).read(" 5 "), Ok(Some(json!(5))));
        assert_eq!(field(FieldKind::Json, false).read(""), Ok(None));
        assert!(field(FieldKind::Text, true).read("").is_err());
        assert!(field(FieldKind::Json, true).read("five").is_err());
    }
}
