//! The speed of XState, measured by Node.

use std::{path::Path, process::Command};

use crate::Result;

/// The measured speeds in steps per second.
pub(crate) struct Speeds {
    pub(crate) ring: f64,
    pub(crate) nested: f64,
}

/// Installs XState under `target/` and runs it. If Node is missing, prints a line about that and returns `None`.
pub(crate) fn measure() -> Result<Option<Speeds>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = here.join("../target/xstate");
    std::fs::create_dir_all(&scratch)?;
    for file in ["package.json", "bench.mjs"] {
        std::fs::copy(here.join("xstate").join(file), scratch.join(file))?;
    }
    if !scratch.join("node_modules/xstate").exists() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-fund", "--no-audit"]).current_dir(&scratch);
        if !install.status().is_ok_and(|status| status.success()) {
            println!("xstate   not measured: `npm install xstate` did not work here");
            return Ok(None);
        }
    }
    let output = Command::new("node").arg("bench.mjs").current_dir(&scratch).output()?;
    if !output.status.success() {
        return Err(format!("the XState bench failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let speed = |name: &str| told[name].as_f64().ok_or_else(|| format!("no speed of {name}"));
    Ok(Some(Speeds { ring: speed("ring")?, nested: speed("nested")? }))
}
