//! LangGraph with its SQLite checkpointer, doing the same in the same run. `scripts/bench.sh` installs it; without it the line is left out.

use std::{path::Path, process::Command};

use crate::Result;

/// What LangGraph did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Durable steps a second of one run.
    pub(crate) alone: f64,
    /// Of many runs of 20 steps, one after the other as its synchronous saver does.
    pub(crate) many: f64,
    /// Bytes on the disk per step of the run alone.
    pub(crate) bytes: f64,
}

/// Steps a second and bytes per step, where it is installed.
pub(crate) fn measure(folder: &Path) -> Result<Option<Measured>> {
    let python = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/langgraph/bin/python"));
    if !python.exists() {
        return Ok(None);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/langgraph/bench.py");
    let output = Command::new(python).arg(script).arg(folder).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| told[name].as_f64().ok_or_else(|| format!("no `{name}` in {told}"));
    Ok(Some(Measured { alone: number("alone")?, many: number("many")?, bytes: number("bytes")? }))
}
