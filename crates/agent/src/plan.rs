//! The plan of an agent's program: its environment, its limits and its confinement.

use std::{path::PathBuf, time::Duration};

use interlock_activity::{Attempt, Outcome};
use interlock_process::{Plan, Sandbox, Tell};

use crate::{
    activity::bad_settings,
    confinement::{self, Home},
    launch,
    settings::Agent,
};

/// The bytes kept of an agent's standard error.
const STDERR_BYTES_MAX: u64 = 4 * 1_024 * 1_024;

/// Returns the plan of an agent's program, with the program as its only word.
pub(crate) fn plan(
    name: &str,
    agent: &Agent,
    attempt: &Attempt,
    sandbox: &Sandbox,
    home: &Home,
) -> Result<Plan, Outcome> {
    let program = confinement::program(name, agent, attempt)?;
    Ok(Plan {
        words: vec![program.into()],
        folder: attempt.folder.clone(),
        env: launch::env(agent, &home.path).map_err(bad_settings)?,
        timeout: Duration::try_from_secs_f64(agent.limits.turn_minutes * 60.0).ok(),
        output_bytes_max: STDERR_BYTES_MAX,
        rules: confinement::rules(sandbox, attempt, agent, home)?,
        launcher: sandbox.launcher.clone(),
        ..empty_plan()
    })
}

/// Returns a plan of nothing.
pub(crate) fn empty_plan() -> Plan {
    Plan {
        words: Vec::new(),
        folder: PathBuf::new(),
        env: std::collections::BTreeMap::new(),
        stdin: Vec::new(),
        timeout: None,
        output_bytes_max: 0,
        tell: [Tell::Nothing; 2],
        rules: interlock_sandbox::Rules::default(),
        launcher: interlock_sandbox::Launcher::default(),
    }
}
