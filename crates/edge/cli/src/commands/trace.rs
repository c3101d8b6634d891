//! `interlock trace`: shows every transition of a run with its reasons.

use super::Outcome;
use crate::{Exit, escape, failure::Failure, follow::Follower, output::Output, store::Store, why};

/// Prints the trace of a run: JSON lines for programs, or the reasons of every transition as text.
pub(crate) fn run(run: &str, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(run)?;
    let mut follower = Follower::from_start(&store, head)?;
    let steps = follower.catch_up()?;
    let mut text = String::new();
    if !output.is_json() {
        let (head, place) = (&follower.head, follower.live.place());
        text = format!("{} of {}: {} in {place}\n", head.name, head.machine, follower.phase().word());
    }
    for step in steps.iter().flat_map(|step| &step.moves) {
        match output.is_json() {
            true => text.push_str(&json_line(step)?),
            false => text.push_str(&why::explain(step, output)),
        }
    }
    output.data(&text)?;
    Ok(Exit::Good)
}

/// Formats a move as one line of JSON.
pub(crate) fn json_line(step: &interlock_runtime::Move) -> Result<String, Failure> {
    let json = serde_json::to_string(step).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(escape::json(&json).into_owned() + "\n")
}
