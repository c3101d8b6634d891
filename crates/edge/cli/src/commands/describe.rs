//! `interlock describe`: describes the states, events and transitions of a machine.

use interlock_chart::describe;

use super::Outcome;
use crate::{Exit, machine, output::Output};

/// Prints the description of a machine, as text or JSON.
pub(crate) fn run(machine: &str, output: &Output) -> Outcome {
    let chart = machine::load(machine, output)?;
    match output.is_json() {
        true => output.json(&describe::json(&chart))?,
        false => output.data(&describe::text(&chart))?,
    }
    Ok(Exit::Good)
}
