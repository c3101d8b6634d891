//! Probes the configured agents: starts each one and does the handshake of its protocol, without a prompt.

use std::{path::Path, sync::Arc, time::Duration};

use interlock_activity::{Attempt, Outcome};
use interlock_process::Sandbox;

use crate::{
    Referee, Ruling, Writing,
    budget::Left,
    confinement::Home,
    driver::{End, ToolCall, Turn, driver},
    launch,
    plan::Starting,
    record::Record,
    relay::Link,
    session::fresh_id,
    settings::{Agent, DriverKind, Settings},
    turn::Scene,
};

/// The time that an agent has for the handshake.
const PATIENCE: Duration = Duration::from_secs(20);

/// The result of probing one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The agent's name in the settings.
    pub agent: String,
    /// True if the handshake succeeded.
    pub ok: bool,
    /// The command, followed by the result or the failure.
    pub said: String,
}

/// Starts every configured agent, one after the other. `attempt` belongs to no run.
pub async fn probe(
    home: Option<&Path>,
    attempt: &Attempt,
    sandbox: &Sandbox,
    scratch: &Path,
) -> Result<Vec<Probe>, String> {
    let settings = Settings::load(home, &attempt.folder)?;
    let mut probes = Vec::new();
    for (name, agent) in &settings.agents {
        let found = match agent.driver {
            // It has no program; the judges of its model are probed by themselves.
            DriverKind::Coder => Ok(()),
            _ => one(name, agent, attempt, sandbox, scratch).await,
        };
        let command = if agent.driver == DriverKind::Coder { "coder".to_owned() } else { agent.command.join(" ") };
        let (ok, said) = match found {
            Ok(()) => (true, "answers".to_owned()),
            Err(why) => (false, why),
        };
        probes.push(Probe { agent: name.clone(), ok, said: format!("{command}: {said}") });
    }
    Ok(probes)
}

async fn one(name: &str, agent: &Agent, attempt: &Attempt, sandbox: &Sandbox, scratch: &Path) -> Result<(), String> {
    let home = Home::open(scratch, "doctor", name, agent)?;
    let folder = attempt.folder.to_string_lossy().into_owned();
    let turn = Turn { session: None, fresh: fresh_id()?, folder, text: None, model: agent.model.clone() };
    let driver = driver(agent.driver, turn.clone())?;
    let said = |outcome: Outcome| outcome.message();
    let relay = match &agent.relay {
        Some(settings) => Some((settings.open(None, &agent.env).await?, settings)),
        None => None,
    };
    let link = relay.as_ref().map(|(relay, settings)| Link::new(relay, settings));
    let starting = Starting { name, agent, home: &home, link: link.as_ref() };
    let mut plan = starting.plan(attempt, sandbox, &turn).map_err(said)?;
    plan.timeout = Some(PATIENCE);
    let mut record = Record::new(attempt, name).map_err(|error| error.to_string())?;
    let (referee, left) = (Arc::new(Nobody), Left::default());
    let close_grace = launch::close_grace(agent.driver);
    let scene = Scene { attempt, plan: &plan, referee, left, relay: None, note: &|_, _| {}, ask_ms: 0, close_grace };
    let (facts, ended) = scene.run(driver, &mut record).await.map_err(said)?;
    match facts.end {
        Some(End::Finished) => Ok(()),
        Some(other) => Err(format!("{other:?}")),
        None => Err(ended.shown.last_line().unwrap_or_else(|| "it ended without an answer".to_owned())),
    }
}

/// Denies everything: a handshake needs no permission.
struct Nobody;

impl Referee for Nobody {
    fn rule(&self, _: &Attempt, _: &ToolCall) -> Result<Ruling, Outcome> {
        Ok(Ruling::Deny("this is only a handshake".to_owned()))
    }

    fn writing(&self, _: &Attempt, _: &str) -> Result<Writing, Outcome> {
        Ok(Writing::Denied("this is only a handshake".to_owned()))
    }

    fn weakened(&self, _: &Attempt, _: &[u8]) -> Vec<String> {
        Vec::new()
    }
}
