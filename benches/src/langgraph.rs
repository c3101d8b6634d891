//! Measures LangGraph with its SQLite checkpointer on the same task in the same run. `scripts/bench.sh` installs it; if
//! it is missing, the line is left out.

use std::{path::Path, process::Command};

use crate::Result;

/// The measured figures of LangGraph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Durable steps per second of one run.
    pub(crate) alone: f64,
    /// Durable steps per second of many runs of 20 steps, one after the other, because its saver is synchronous.
    pub(crate) many: f64,
    /// Bytes on disk per step of the single run.
    pub(crate) bytes: f64,
}

/// Measures steps per second and bytes per step; returns `None` if LangGraph is not installed.
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
