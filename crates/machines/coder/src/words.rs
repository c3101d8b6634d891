//! `turn.words`: compares the summary of a turn with its recorded facts.
//!
//! A model words the facts, so its words come last and can be wrong. A claim that the facts contradict is named, the words
//! are marked as the model's, and the turn does not end as completed.

use interlock_activity::{Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, schema};
use interlock_chart::{Value, model::Schema};
use serde_json::Value as Json;

use crate::{begin, claims, value};

const KNOWN: [&str; 3] = ["summary", "facts", "read_only"];

/// Compares words with facts.
#[derive(Clone, Debug, Default)]
pub struct TurnWords;

fn compare(attempt: &Attempt) -> Result<Outcome, Outcome> {
    let given = Arguments::new(&attempt.with, &KNOWN)?;
    let summary = given.text("summary")?.unwrap_or_default();
    let facts = given.value("facts").map(Json::from).unwrap_or_default();
    let found = claims::contradictions(summary, &facts, given.value("read_only") == Some(&Value::Bool(true)));
    if found.is_empty() {
        return Ok(Outcome::signal("words_hold", Value::map::<&str>([])));
    }
    let lines: String = found.iter().map(|line| format!("! contradiction: {line}\n")).collect();
    let data = [
        ("reason", Value::from(found.join("; "))),
        ("contradictions", value(&found)),
        ("summary", Value::from(format!("{lines}The words of the model: {summary}"))),
    ];
    Ok(Outcome::signal("words_contradict", Value::map(data)))
}

impl Activity for TurnWords {
    fn name(&self) -> &str {
        "turn.words"
    }

    fn summary(&self) -> &str {
        "Compares the summary of a turn with its recorded facts, and marks it if they contradict it."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("words_hold"), Signal::open("words_contradict")] }
    }

    fn schema(&self) -> Schema {
        schema::fields([("summary", schema::text()), ("facts", schema::object()), ("read_only", schema::flag())])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        begin(attempt, compare)
    }
}
