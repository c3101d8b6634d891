//! `notebook.propose`: shows a proposed update of the workflow or of a stage's steps as a difference. With `auto_confirm`
//! it confirms the update; otherwise a person decides.

use interlock_activity::{Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, schema};
use interlock_chart::{Value, model::Schema};
use serde_json::Value as Json;

const KNOWN: [&str; 4] = ["workflow", "workflow_update", "stage_steps_update", "auto_confirm"];

/// The longest difference that is reported.
const CHARS_MAX: usize = 4_000;

/// Shows an update, and confirms it if it may.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotebookPropose;

impl NotebookPropose {
    fn run(attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let (update, signal, subject) = match (given.value("workflow_update"), given.value("stage_steps_update")) {
            (Some(update), _) => (Json::from(update), "UPDATE_WORKFLOW_CONFIRMED", "another workflow"),
            (None, update) => {
                (update.map(Json::from).unwrap_or_default(), "UPDATE_STEP_CONFIRMED", "other steps for the stage")
            }
        };
        let difference = difference(&update);
        if given.value("auto_confirm") == Some(&Value::Bool(true)) {
            let text = format!("the planner's proposal is confirmed: {subject}\n{difference}");
            attempt.host.progress(&attempt.run, attempt.activity, &text);
            return Ok(Outcome::signal(signal, Value::empty()));
        }
        Ok(Outcome::needs_person(format!("the planner proposes {subject}:\n{difference}")))
    }
}

/// Returns the changed lines of an update; the update itself if it has no difference.
fn difference(update: &Json) -> String {
    let lines = update.get("difference").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let lines: Vec<&str> = lines.collect();
    let text = if lines.is_empty() { update.to_string() } else { lines.join("\n") };
    text.chars().take(CHARS_MAX).collect()
}

impl Activity for NotebookPropose {
    fn name(&self) -> &str {
        "notebook.propose"
    }

    fn summary(&self) -> &str {
        "Shows a proposed update of a workflow as a difference; a person or auto_confirm decides."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("UPDATE_WORKFLOW_CONFIRMED"), Signal::open("UPDATE_STEP_CONFIRMED")] }
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("workflow", schema::object()),
            ("workflow_update", schema::object()),
            ("stage_steps_update", schema::object()),
            ("auto_confirm", schema::flag()),
        ])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move { Self::run(&attempt).unwrap_or_else(|error| error) })
    }
}
