//! Asks for the data of an event: scalars by typing, choices by a menu, objects field by field, lists item by item, and
//! all of these as text in an editor if the person prefers that.
//!
//! Each answer is written into a draft at once. If a later answer is refused or the person goes back, the fields are
//! filled in from the draft.

use inquire::{InquireError, Select, Text, validator::Validation};
use interlock_chart::model::Schema;
use serde_json::{Map, Value as Json};

use super::{
    editor,
    field::{Field, Kind},
};
use crate::sample::sample;

/// The most items of a list that are asked for.
const ITEMS_MAX: usize = 1_000;

/// The input in a text field that opens an editor.
const EDIT: &str = ":edit";

const NOTHING: &str = "(nothing)";
const CHOOSE: &str = "(choose one)";
const BY_FIELD: &str = "field by field";
const BY_ITEM: &str = "item by item";
const AS_TEXT: &str = "as text in $EDITOR";

type Asked = Result<(), InquireError>;

/// Asks until the data as a whole fits the schema.
pub(crate) fn data(schema: &Schema, draft: &mut Json) -> Asked {
    let whole = Field::whole(schema);
    loop {
        let mut slot = Some(draft.take());
        let asked = whole_data(&whole, &mut slot);
        *draft = slot.unwrap_or_else(|| Json::Object(Map::new()));
        asked?;
        match whole.check(draft) {
            Ok(()) => return Ok(()),
            Err(why) => refuse(&format!("{why}. What you typed is kept.")),
        }
    }
}

fn whole_data(whole: &Field, slot: &mut Option<Json>) -> Asked {
    let is_nested = |field: &Field| matches!(field.kind(), Kind::Object | Kind::List | Kind::Json);
    match whole.fields().iter().any(is_nested) {
        true => composite(whole, BY_FIELD, slot, fields),
        false => fields(whole, slot),
    }
}

fn ask(field: &Field, slot: &mut Option<Json>) -> Asked {
    match field.kind() {
        Kind::Choice(values) => choice(field, &values, slot),
        Kind::YesNo | Kind::Text | Kind::Number(_) => scalar(field, slot),
        Kind::Object => composite(field, BY_FIELD, slot, fields),
        Kind::List => composite(field, BY_ITEM, slot, items),
        Kind::Json => composite(field, "as JSON on a line", slot, scalar),
    }
}

/// Asks for every field of an object.
fn fields(object: &Field, slot: &mut Option<Json>) -> Asked {
    let mut values = match slot.take() {
        Some(Json::Object(values)) => values,
        _ => Map::new(),
    };
    for field in object.fields() {
        let mut value = values.remove(field.name());
        let asked = ask(&field, &mut value);
        if let Some(value) = value {
            values.insert(field.name().to_owned(), value);
        }
        if asked.is_err() {
            *slot = Some(Json::Object(values));
            return asked;
        }
    }
    *slot = Some(Json::Object(values));
    Ok(())
}

/// Asks for every item of a list. Items of the draft come first; an empty item ends the list.
fn items(list: &Field, slot: &mut Option<Json>) -> Asked {
    let known = match slot.take() {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    };
    let (mut given, mut known) = (Vec::new(), known.into_iter());
    while given.len() < ITEMS_MAX {
        let mut value = known.next();
        let asked = item(&list.item(given.len()), &mut value);
        let is_end = value.is_none();
        given.extend(value);
        if asked.is_err() {
            given.extend(known);
            *slot = Some(Json::Array(given));
            return asked;
        }
        match list.check(&Json::Array(given.clone())) {
            Err(why) if is_end => refuse(&why),
            _ if is_end => break,
            _ => {}
        }
    }
    *slot = Some(Json::Array(given));
    Ok(())
}

/// Asks for one item. For a composite item, first asks if the person wants to add one.
fn item(field: &Field, slot: &mut Option<Json>) -> Asked {
    match field.kind() {
        Kind::Object | Kind::List if slot.is_none() => {
            let question = format!("add {}?", field.path);
            let wanted = Field { path: question, schema: serde_json::json!({ "type": "boolean" }), is_required: true };
            let mut answer = None;
            scalar(&wanted, &mut answer)?;
            if answer != Some(Json::Bool(true)) {
                return Ok(());
            }
            ask(&Field { is_required: true, ..field.clone() }, slot)
        }
        _ => ask(field, slot),
    }
}

/// Asks for a value with parts, as text in an editor or part by part.
fn composite(
    field: &Field,
    part_by_part: &str,
    slot: &mut Option<Json>,
    parts: impl Fn(&Field, &mut Option<Json>) -> Asked,
) -> Asked {
    let mut ways = vec![part_by_part, AS_TEXT];
    if !field.is_required {
        ways.insert(0, NOTHING);
    }
    match Select::new(&title(field), ways).prompt()? {
        NOTHING => {
            *slot = None;
            Ok(())
        }
        AS_TEXT => as_text(field, slot),
        _ => parts(field, slot),
    }
}

/// Asks for a value as JSON in an editor, until it parses and fits. The text is kept between attempts.
fn as_text(field: &Field, slot: &mut Option<Json>) -> Asked {
    let begin = begin(&field.schema, slot.as_ref());
    let mut text = serde_json::to_string_pretty(&begin).unwrap_or_default() + "\n";
    loop {
        text = editor::edit(&text, ".json")?;
        let read = serde_json::from_str::<Json>(&text).map_err(|error| format!("not JSON: {error}"));
        match read.and_then(|value| field.check(&value).map(|()| value)) {
            Ok(value) => {
                *slot = Some(value);
                return Ok(());
            }
            Err(why) => edit_again(&why)?,
        }
    }
}

/// Returns the initial text of an editor: the earlier answers, and an example of the required fields that have none.
fn begin(schema: &Schema, known: Option<&Json>) -> Json {
    match (sample(schema), known) {
        (Json::Object(mut example), Some(Json::Object(known))) => {
            example.extend(known.clone());
            Json::Object(example)
        }
        (_, Some(known)) => known.clone(),
        (example, None) => example,
    }
}

/// Reports invalid text and waits, so that the person can read the report before the editor covers it. Escape leaves
/// the field.
fn edit_again(why: &str) -> Asked {
    refuse(why);
    Text::new("Enter opens the editor again").prompt().map(drop)
}

fn choice(field: &Field, values: &[Json], slot: &mut Option<Json>) -> Asked {
    let neutral = if field.must_answer() { CHOOSE } else { NOTHING };
    let labels: Vec<String> = std::iter::once(neutral.to_owned()).chain(values.iter().map(word)).collect();
    let before = slot.as_ref().or(field.default());
    let start = before.and_then(|before| values.iter().position(|value| value == before)).map_or(0, |at| at + 1);
    loop {
        let chosen = Select::new(&title(field), labels.clone()).with_starting_cursor(start).raw_prompt()?;
        let chosen = chosen.index.checked_sub(1).and_then(|at| values.get(at));
        if chosen.is_some() || !field.must_answer() {
            *slot = chosen.cloned();
            return Ok(());
        }
        refuse(&format!("{}: choose one of the values", field.path));
    }
}

/// Asks for a typed value. It is checked while the person types, and is accepted only if it fits.
fn scalar(field: &Field, slot: &mut Option<Json>) -> Asked {
    let (kind, checked) = (field.kind(), field.clone());
    let is_text = kind == Kind::Text;
    let before = slot.as_ref().map(word).filter(|text| !text.contains('\n'));
    let default = field.default().filter(|default| **default != Json::Bool(true)).map(word);
    let title = if kind == Kind::YesNo { format!("{} (y/n)", field.path) } else { field.path.clone() };
    let help = help(field, is_text);
    let mut question = Text::new(&title).with_validator(move |typed: &str| match checked.read(typed) {
        _ if is_text && typed.trim() == EDIT => Ok(Validation::Valid),
        Ok(_) => Ok(Validation::Valid),
        Err(why) => Ok(Validation::Invalid(why.into())),
    });
    question.initial_value = before.as_deref();
    question.default = default.as_deref().filter(|_| before.is_none());
    question.help_message = Some(&help).filter(|help| !help.is_empty()).map(String::as_str);
    let typed = question.prompt()?;
    if is_text && typed.trim() == EDIT {
        return long_text(field, slot);
    }
    *slot = field.read(&typed).map_err(|why| InquireError::Custom(why.into()))?;
    Ok(())
}

fn help(field: &Field, is_text: bool) -> String {
    let edit = is_text.then(|| format!("{EDIT} opens $EDITOR"));
    let parts: Vec<String> = field.description().map(str::to_owned).into_iter().chain(edit).collect();
    parts.join("; ")
}

/// Asks for a text in an editor, until it fits.
fn long_text(field: &Field, slot: &mut Option<Json>) -> Asked {
    let mut text = slot.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned();
    loop {
        text = editor::edit(&text, ".txt")?;
        match field.read(text.trim_end()) {
            Ok(value) => {
                *slot = value;
                return Ok(());
            }
            Err(why) => edit_again(&why)?,
        }
    }
}

/// Returns the line above a menu: the field's name and its description.
fn title(field: &Field) -> String {
    let path = if field.path.is_empty() { "the data" } else { &field.path };
    match field.description() {
        None => path.to_owned(),
        Some(description) => format!("{path} ({description})"),
    }
}

/// Formats a value as a person types it.
fn word(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn refuse(why: &str) {
    crate::output::tell(&crate::escape::line(why));
}
