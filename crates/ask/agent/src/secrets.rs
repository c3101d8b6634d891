//! The secrets that an agent is given: values of its environment and of its login files. They are redacted wherever they
//! appear in the turn, because an agent can repeat what it was given.

use std::{fs, sync::Arc};

use interlock_activity::Attempt;
use interlock_redact::Redactor;
use serde_json::Value as Json;

use crate::{launch, logins::login_path, settings::Agent};

/// The length from which on a value of a login file is a secret. Shorter ones are words such as `bearer`.
const VALUE_BYTES_MIN: usize = 12;

/// The size up to which a login file is read.
const FILE_BYTES_MAX: u64 = 1_024 * 1_024;

/// Returns the attempt with a redactor that also knows the agent's secrets. May block.
pub(crate) fn with_secrets(attempt: Attempt, agent: &Agent) -> Attempt {
    let logins = agent.login.iter().flat_map(|login| values_of(login));
    let known: Vec<String> = keys(agent).chain(logins).collect();
    match known.is_empty() {
        true => attempt,
        false => {
            let redactor = Arc::new(attempt.evidence.redactor().also(known));
            Attempt { evidence: attempt.evidence.redacting(redactor), ..attempt }
        }
    }
}

/// Returns the keys that an agent is configured to use, whatever their variables are called. May block.
pub fn keys(agent: &Agent) -> impl Iterator<Item = String> {
    let key = agent.relay.as_ref().and_then(|relay| relay.key.read().ok());
    environment(agent).chain(key)
}

/// Returns the values whose name is that of a secret, in the agent's environment or in ours.
fn environment(agent: &Agent) -> impl Iterator<Item = String> {
    agent.env.iter().filter_map(|(name, value)| {
        let from = value.strip_prefix("env:").unwrap_or(name);
        let is_secret = [name.as_str(), from].into_iter().any(Redactor::is_secret_name);
        is_secret.then(|| launch::value(value)).flatten()
    })
}

/// Returns the texts in a login file: all strings of JSON, otherwise all words.
fn values_of(login: &str) -> Vec<String> {
    let Ok((path, _)) = login_path(login) else { return Vec::new() };
    let is_small = fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= FILE_BYTES_MAX);
    let Some(text) = is_small.then(|| fs::read_to_string(&path).ok()).flatten() else { return Vec::new() };
    let mut values = Vec::new();
    match serde_json::from_str::<Json>(&text) {
        Ok(json) => strings(&json, &mut values),
        Err(_) => {
            values.extend(text.split(|sign: char| sign.is_whitespace() || "\"'=,;".contains(sign)).map(str::to_owned))
        }
    }
    values.retain(|value| value.len() >= VALUE_BYTES_MIN);
    values
}

fn strings(json: &Json, into: &mut Vec<String>) {
    match json {
        Json::String(text) => into.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Json::Object(fields) => fields.values().for_each(|field| strings(field, into)),
        _ => {}
    }
}
