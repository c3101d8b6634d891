//! `interlock schema`: the JSON Schema of machine files, for editors.

use interlock_chart::schema;

use super::Outcome;
use crate::{Exit, output::Output};

/// Prints the schema, which is JSON with or without `--json`.
pub(crate) fn run(output: &Output) -> Outcome {
    output.data(&schema::machine_schema_text())?;
    Ok(Exit::Good)
}
