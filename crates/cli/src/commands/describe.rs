//! `interlock describe`: what a machine consists of.

use interlock_chart::describe;

use super::Outcome;
use crate::{Exit, machine, output::Output};

/// Describes a machine.
pub(crate) fn run(machine: &str, output: &Output) -> Outcome {
    let chart = machine::load(machine, output)?;
    match output.is_json() {
        true => output.json(&describe::json(&chart))?,
        false => output.data(&describe::text(&chart))?,
    }
    Ok(Exit::Good)
}
