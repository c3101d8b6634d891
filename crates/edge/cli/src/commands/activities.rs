//! `interlock activities`: lists the activities that machines can invoke, or describes one.

use std::collections::BTreeMap;

use interlock_activity::{Activity, Signal};
use interlock_chart::model::Schema;
use interlock_suggest::did_you_mean;
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{Exit, failure::Failure, output::Output, sample, store::registry, table};

/// Lists the available activities, or describes the named one.
pub(crate) fn run(name: Option<&str>, output: &Output) -> Outcome {
    match name {
        Some(name) => one(name, output)?,
        None => all(output)?,
    }
    Ok(Exit::Good)
}

fn all(output: &Output) -> Result<(), Failure> {
    let registry = registry();
    if output.is_json() {
        output.json(&registry.iter().map(|activity| json(activity.as_ref())).collect::<Vec<_>>())?;
        return Ok(());
    }
    let rows = registry.iter().map(|activity| {
        let signals = names(activity.signals()).join(", ");
        [activity.name().to_owned(), activity.effect().word().to_owned(), signals, activity.summary().to_owned()]
    });
    Ok(output.data(&table::text(["activity", "effect", "signals", "summary"], rows, output))?)
}

fn one(name: &str, output: &Output) -> Result<(), Failure> {
    let activity = registry().get(name).ok_or_else(|| unknown(name))?;
    match output.is_json() {
        true => output.json(&json(activity.as_ref()))?,
        false => output.data(&text(activity.as_ref(), output))?,
    }
    Ok(())
}

fn json(activity: &dyn Activity) -> Json {
    json!({
        "name": activity.name(),
        "summary": activity.summary(),
        "effect": activity.effect().word(),
        "signals": names(activity.signals()),
        "data": activity.signals().iter().map(|signal| (signal.name, signal.data())).collect::<BTreeMap<_, _>>(),
        "with": activity.schema(),
    })
}

fn text(activity: &dyn Activity, output: &Output) -> String {
    let signals = match activity.signals() {
        [] => "the signals that the machine declares".to_owned(),
        signals => names(signals).join(", "),
    };
    let (name, summary, effect) = (output.bold(activity.name()), activity.summary(), activity.effect().word());
    let mut text =
        format!("{name}\n{summary}\n\neffect   {effect}\nsignals  {signals}; or error {{code, message}}\n\n");
    let schema = activity.schema();
    let fields = schema.get("properties").and_then(Json::as_object);
    let rows: Vec<[String; 3]> = fields.into_iter().flatten().map(|(name, field)| row(&schema, name, field)).collect();
    match rows.is_empty() {
        true => text.push_str("It has no declared arguments.\n"),
        false => text.push_str(&table::text(["with", "type", ""], rows, output)),
    }
    if schema.get("additionalProperties") != Some(&Json::Bool(false)) {
        text.push_str("Other arguments are accepted too.\n");
    }
    text.push_str(&carried(activity.signals(), output));
    text
}

fn names(signals: &[Signal]) -> Vec<&'static str> {
    signals.iter().map(|signal| signal.name).collect()
}

/// Describes the data of signals: one table for those that carry the same, and nothing for those that are not described.
fn carried(signals: &[Signal], output: &Output) -> String {
    let mut told: Vec<(Schema, Vec<&str>)> = Vec::new();
    for signal in signals {
        let data = signal.data();
        match told.iter_mut().find(|(known, _)| *known == data) {
            Some((_, names)) => names.push(signal.name),
            None => told.push((data, vec![signal.name])),
        }
    }
    let mut text = String::new();
    for (data, names) in told {
        let Some(fields) = data.get("properties").and_then(Json::as_object) else { continue };
        let names = names.join(", ");
        let rows: Vec<[String; 2]> = fields.iter().map(|(name, field)| [name.clone(), kind(field, 0)]).collect();
        match rows.is_empty() {
            true => text.push_str(&format!("\n{names}: no data\n")),
            false => text.push_str(&format!("\n{}", table::text([&*format!("data of {names}"), "type"], rows, output))),
        }
    }
    text
}

fn row(schema: &Schema, name: &str, field: &Schema) -> [String; 3] {
    let is_required = sample::required(schema).any(|required| required == name);
    let required = if is_required { "required" } else { "" };
    [name.to_owned(), kind(field, 0), required.to_owned()]
}

/// The depth to which the types of items and alternatives are described.
const DEPTH_MAX: usize = 3;

/// Describes the type of a field in a few words.
fn kind(field: &Schema, depth: usize) -> String {
    let list = |name: &str| field.get(name).and_then(Json::as_array).filter(|_| depth < DEPTH_MAX);
    if let Some(values) = list("enum") {
        let words = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        return words.collect::<Vec<_>>().join(" | ");
    }
    if let Some(several) = list("anyOf").or_else(|| list("oneOf")) {
        return several.iter().map(|one| kind(one, depth + 1)).collect::<Vec<_>>().join(" or ");
    }
    match field.get("type") {
        Some(Json::String(kind)) if kind == "array" && depth < DEPTH_MAX => {
            field.get("items").map_or("list".to_owned(), |items| format!("list of ({})", self::kind(items, depth + 1)))
        }
        Some(Json::String(kind)) => format!("{kind}{}", range(field)),
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// Returns the bounds of a number, if it has any besides 0 as the least.
fn range(field: &Schema) -> String {
    let bound = |name: &str| field.get(name).filter(|bound| bound.as_f64() != Some(0.0));
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" ({least} to {most})"),
        (Some(least), None) => format!(" (at least {least})"),
        (None, Some(most)) => format!(" (at most {most})"),
        (None, None) => String::new(),
    }
}

fn unknown(name: &str) -> Failure {
    let hint = did_you_mean(name, registry().iter().map(|activity| activity.name()));
    let hint = hint.unwrap_or_else(|| "`interlock activities` lists them".to_owned());
    Failure::bad_input(format!("there is no activity `{name}`")).hint(hint)
}
