//! The command line and the environment of an agent's program.

use std::{collections::BTreeMap, path::Path, time::Duration};

use crate::{
    driver::Turn,
    relay::Link,
    settings::{Agent, DriverKind},
};

/// Returns the words of the program: the configured command and the arguments that its protocol needs.
pub(crate) fn words(agent: &Agent, turn: &Turn, link: Option<&Link>) -> Vec<String> {
    let mut words: Vec<String> = agent.command.iter().map(|word| filled(word, link)).collect();
    match agent.driver {
        DriverKind::Claude => {
            let fixed =
                "-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio";
            // The repository's own settings, hooks and MCP servers are not loaded: the agent could have written them.
            let closed = "--strict-mcp-config --setting-sources user";
            words.extend(fixed.split(' ').chain(closed.split(' ')).map(str::to_owned));
            let (flag, id) = match &turn.session {
                Some(session) => ("--resume", session),
                None => ("--session-id", &turn.fresh),
            };
            words.extend([flag.to_owned(), id.clone()]);
            words.extend(turn.model.iter().flat_map(|model| ["--model".to_owned(), model.clone()]));
        }
        DriverKind::Codex => words.push("app-server".to_owned()),
        DriverKind::Acp | DriverKind::Command | DriverKind::Coder => {}
    }
    words
}

/// Returns the time that a program has to end by itself after its turn.
pub(crate) fn close_grace(driver: DriverKind) -> Duration {
    match driver {
        // An agent answers the prompt when its session is stored. goose goes on for seconds after its input has ended.
        DriverKind::Acp => Duration::from_millis(50),
        DriverKind::Claude | DriverKind::Codex | DriverKind::Command | DriverKind::Coder => {
            Duration::from_millis(1_500)
        }
    }
}

fn filled(text: &str, link: Option<&Link>) -> String {
    link.map_or_else(|| text.to_owned(), |link| link.fill(text))
}

/// Returns the environment: a private home, the configured variables, and defaults that leave retries to the machine and
/// lead to the relay. The error names a variable that is missing in our own environment.
pub(crate) fn env(agent: &Agent, home: &Path, link: Option<&Link>) -> Result<BTreeMap<String, String>, String> {
    let mut env = BTreeMap::from([("HOME".to_owned(), home.to_string_lossy().into_owned())]);
    let usual: &[(&str, &str)] = match agent.driver {
        DriverKind::Claude => &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("CLAUDE_CODE_MAX_RETRIES", "2")],
        DriverKind::Acp => &[("GOOSE_DISABLE_KEYRING", "1"), ("GOOSE_MODE", "approve")],
        DriverKind::Codex | DriverKind::Command | DriverKind::Coder => &[],
    };
    env.extend(usual.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    env.extend(link.into_iter().flat_map(Link::variables));
    for (name, said) in &agent.env {
        let missing = || {
            let from = said.trim_start_matches("env:");
            format!("`env.{name}`: the variable {from} is not set; export it before you start the run")
        };
        env.insert(name.clone(), filled(&value(said).ok_or_else(missing)?, link));
    }
    Ok(env)
}

/// Returns the value of a configured variable; `env:NAME` is read from our own environment, and `None` if it is not set.
pub(crate) fn value(said: &str) -> Option<String> {
    match said.strip_prefix("env:") {
        Some(from) => std::env::var(from).ok(),
        None => Some(said.to_owned()),
    }
}

/// Returns the model that the settings name: the field `model`, or a variable such as `GOOSE_MODEL`.
pub(crate) fn model(agent: &Agent) -> Option<String> {
    let mut variables = agent.env.iter().filter(|(name, _)| name.ends_with("_MODEL"));
    agent.model.clone().or_else(|| value(variables.next()?.1))
}
