//! `interlock agents`: lists the coding agents of `agents.toml`.

use std::path::Path;

use interlock_agent::settings::Settings;
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{Exit, failure::Failure, machine, output::Output, store::home};

/// Prints the configured agents.
pub(crate) fn run(output: &Output) -> Outcome {
    let settings = load(&machine::here())?;
    if output.is_json() {
        output.json(&rows(&settings))?;
        return Ok(Exit::Good);
    }
    let usual = settings.usual();
    if settings.agents.is_empty() {
        output.talk("No agent is configured. docs/agents.md shows how to write agents.toml.\n");
    }
    let width = settings.agents.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    let line = |(name, agent): (&String, &interlock_agent::settings::Agent)| {
        let mark = if usual == Some(name.as_str()) { "*" } else { " " };
        format!("{mark} {name:<width$}  {:<7}  {}\n", agent.driver.name(), agent.command.join(" "))
    };
    output.data(&settings.agents.iter().map(line).collect::<String>())?;
    Ok(Exit::Good)
}

/// Reads the agents that runs in a directory can use.
pub(crate) fn load(folder: &Path) -> Result<Settings, Failure> {
    Settings::load(Some(&home()?), folder)
        .map_err(|why| Failure::bad_input(why).hint("docs/agents.md describes the file"))
}

/// Returns the agents as JSON.
pub(crate) fn rows(settings: &Settings) -> Vec<Json> {
    let usual = settings.usual();
    let row = |(name, agent): (&String, &interlock_agent::settings::Agent)| {
        json!({
            "name": name,
            "driver": agent.driver.name(),
            "command": agent.command,
            "model": agent.model,
            "network": agent.network,
            "turn_minutes": agent.limits.turn_minutes,
            "tokens_per_run": agent.limits.tokens_per_run,
            "cost_per_run": agent.limits.cost_per_run,
            "default": usual == Some(name.as_str()),
        })
    };
    settings.agents.iter().map(row).collect()
}
