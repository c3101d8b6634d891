//! The plan of an agent's program: its environment, its limits and its confinement.

use std::{path::PathBuf, time::Duration};

use interlock_activity::{Attempt, Outcome};
use interlock_process::{Plan, Sandbox, Tell};

use crate::{
    activity::bad_settings,
    confinement::{self, Home},
    driver::Turn,
    launch,
    relay::Link,
    settings::Agent,
};

/// The bytes kept of an agent's standard error.
const STDERR_BYTES_MAX: u64 = 4 * 1_024 * 1_024;

/// An agent that is about to be started.
pub(crate) struct Starting<'s> {
    /// The agent's name in the settings.
    pub(crate) name: &'s str,
    pub(crate) agent: &'s Agent,
    pub(crate) home: &'s Home,
    /// The relay, if it has one.
    pub(crate) link: Option<&'s Link>,
}

impl Starting<'_> {
    /// Returns the plan of the agent's program for a turn.
    pub(crate) fn plan(&self, attempt: &Attempt, sandbox: &Sandbox, turn: &Turn) -> Result<Plan, Outcome> {
        let Starting { name, agent, home, link } = self;
        let program = confinement::program(name, agent, attempt)?;
        let arguments = launch::words(agent, turn, *link).into_iter().skip(1).map(Into::into);
        Ok(Plan {
            words: std::iter::once(program.into()).chain(arguments).collect(),
            folder: attempt.folder.clone(),
            env: launch::env(agent, &home.path, *link).map_err(bad_settings)?,
            timeout: Duration::try_from_secs_f64(agent.limits.turn_minutes * 60.0).ok(),
            output_bytes_max: STDERR_BYTES_MAX,
            rules: confinement::rules(sandbox, attempt, agent, home, *link)?,
            launcher: sandbox.launcher.clone(),
            ..empty_plan()
        })
    }
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
