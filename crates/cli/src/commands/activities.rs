//! `interlock activities`: lists the activities that machines can invoke.

use serde_json::json;

use super::Outcome;
use crate::{Exit, output::Output, store::registry, table};

/// Lists the available activities.
pub(crate) fn run(output: &Output) -> Outcome {
    let registry = registry();
    if output.is_json() {
        let rows = registry.iter().map(|activity| {
            json!({
                "name": activity.name(),
                "summary": activity.summary(),
                "effect": activity.effect().word(),
                "signals": activity.signals(),
                "with": activity.schema(),
            })
        });
        output.json(&rows.collect::<Vec<_>>())?;
        return Ok(Exit::Good);
    }
    let rows = registry.iter().map(|activity| {
        let signals = activity.signals().join(", ");
        [activity.name().to_owned(), activity.effect().word().to_owned(), signals, activity.summary().to_owned()]
    });
    output.data(&table::text(["activity", "effect", "signals", "does"], rows, output))?;
    Ok(Exit::Good)
}
