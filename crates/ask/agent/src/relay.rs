//! The relay of an agent (`[agents.NAME.relay]`): its settings, its start, and the variables that lead the agent to it.
//!
//! The agent gets the address of the relay and a token of the attempt; the key stays in this process (`interlock-relay`).

use std::{collections::BTreeMap, path::PathBuf};

use interlock_relay::{Client, Credential, Origin, Proxy, Relay, Setup};
use serde::Deserialize;

use crate::{launch, session::fresh_id};

/// Stands for the relay's URL in `env` and `command`.
pub(crate) const URL: &str = "{relay.url}";

/// Stands for the token of the attempt in `env` and `command`.
pub(crate) const TOKEN: &str = "{relay.token}";

/// The longest key file.
const KEY_BYTES_MAX: u64 = 64 * 1_024;

/// The settings of a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelaySettings {
    /// The server of the model.
    pub origin: Origin,
    /// The location of the key; never the key itself.
    pub key: Key,
    /// The kind of server, which decides on the variables.
    pub api: Api,
    /// The header that the key goes into.
    pub header: String,
    /// The proxy through which the server is reached.
    pub proxy: Option<Proxy>,
}

/// The location of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// The key is in this environment variable.
    Variable(String),
    /// The key is in this file.
    File(PathBuf),
}

/// The kind of a model's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// A server that speaks as Anthropic's does.
    Anthropic,
    /// A server that speaks as OpenAI's does.
    OpenAi,
    /// A server that speaks as Google's Gemini API does.
    Google,
}

/// The table `relay` of an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelayForm {
    to: String,
    key: String,
    api: Option<String>,
    header: Option<String>,
    proxy: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
}

impl Api {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "anthropic" => Ok(Api::Anthropic),
            "openai" => Ok(Api::OpenAi),
            "google" => Ok(Api::Google),
            other => Err(format!("`relay.api` is `{other}`; use `anthropic`, `openai` or `google`")),
        }
    }

    /// Returns the header of the key.
    fn header(self) -> &'static str {
        match self {
            Api::Anthropic => "x-api-key",
            Api::OpenAi => "authorization",
            Api::Google => "x-goog-api-key",
        }
    }

    /// Returns the variables that agents read, with placeholders.
    fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Api::Anthropic => &[("ANTHROPIC_BASE_URL", URL), ("ANTHROPIC_HOST", URL), ("ANTHROPIC_API_KEY", TOKEN)],
            Api::OpenAi => &[
                ("OPENAI_BASE_URL", "{relay.url}/v1"),
                ("OPENAI_API_BASE", "{relay.url}/v1"),
                ("OPENAI_HOST", URL),
                ("OPENAI_API_KEY", TOKEN),
            ],
            Api::Google => &[("GOOGLE_GEMINI_BASE_URL", URL), ("GEMINI_API_KEY", TOKEN)],
        }
    }
}

impl Key {
    fn parse(text: &str) -> Result<Self, String> {
        match (text.strip_prefix("env:"), text.strip_prefix("file:")) {
            (Some(name), _) if !name.is_empty() => Ok(Key::Variable(name.to_owned())),
            (_, Some(path)) if path.starts_with("~/") => {
                Ok(Key::File(std::env::home_dir().unwrap_or_default().join(&path[2..])))
            }
            (_, Some(path)) if path.starts_with('/') => Ok(Key::File(path.into())),
            _ => Err("`relay.key` must say where the key is: `env:NAME` or `file:/path`".to_owned()),
        }
    }

    /// Reads the key. It is read for each attempt and never stored. May block.
    pub(crate) fn read(&self) -> Result<String, String> {
        let text = match self {
            Key::Variable(name) => std::env::var(name).map_err(|_| {
                format!("`relay.key`: the variable {name} is not set; export it before you start the run")
            })?,
            Key::File(path) => {
                let wrong = |error: std::io::Error| format!("`relay.key`: {}: {error}", path.display());
                let is_small = std::fs::metadata(path).map_err(wrong)?.len() <= KEY_BYTES_MAX;
                let text = is_small.then(|| std::fs::read_to_string(path));
                text.ok_or_else(|| format!("`relay.key`: {} is too long", path.display()))?.map_err(wrong)?
            }
        };
        match text.trim() {
            "" => Err("`relay.key`: the key is empty".to_owned()),
            key => Ok(key.to_owned()),
        }
    }
}

impl RelaySettings {
    /// Checks the table of an agent. `env` and `is_claude` are the agent's.
    pub(crate) fn read(form: RelayForm, env: &BTreeMap<String, String>, is_claude: bool) -> Result<Self, String> {
        let origin = Origin::parse(&form.to, &form.paths).map_err(|why| format!("`relay.to` {why}"))?;
        let api = match form.api {
            Some(name) => Api::named(&name)?,
            None if is_claude || origin.host().ends_with("anthropic.com") => Api::Anthropic,
            None if origin.host().ends_with("googleapis.com") => Api::Google,
            None => Api::OpenAi,
        };
        let key = Key::parse(&form.key)?;
        if let Some((name, _)) = env.iter().find(|(_, value)| **value == form.key) {
            return Err(format!("`env.{name}` gives the agent the key that the relay holds; remove it"));
        }
        let header = form.header.unwrap_or_else(|| api.header().to_owned());
        Credential::new(&header, "key").map_err(|why| format!("`relay.header`: {why}"))?;
        let proxy =
            form.proxy.map(|url| Proxy::parse(&url)).transpose().map_err(|why| format!("`relay.proxy` {why}"))?;
        Ok(RelaySettings { origin, key, api, header, proxy })
    }

    /// Starts the relay of an attempt, with the tokens that are left of the budget. `env` are the agent's variables, which
    /// must not contain the key.
    pub(crate) async fn open(&self, tokens_max: Option<u64>, env: &BTreeMap<String, String>) -> Result<Relay, String> {
        let location = self.key.clone();
        let key = tokio::task::spawn_blocking(move || location.read()).await.map_err(|error| error.to_string())??;
        let has_key = |said: &String| launch::value(said).is_some_and(|value| value.contains(&key));
        if let Some((name, _)) = env.iter().find(|(_, said)| has_key(said)) {
            return Err(format!("`env.{name}` gives the agent the key that the relay holds; remove it"));
        }
        let setup = Setup {
            origin: self.origin.clone(),
            credential: Credential::new(&self.header, &key).map_err(|why| format!("`relay.key`: {why}"))?,
            token: format!("interlock-{}{}", fresh_id()?, fresh_id()?),
            tokens_max,
            client: Client::default().through(self.proxy.clone()),
        };
        Relay::open(setup).await.map_err(|error| format!("the relay cannot listen on loopback: {error}"))
    }
}

/// The words of a running relay, as an agent is told them.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The address, which the sandbox lets the agent reach.
    pub(crate) host: String,
    token: String,
    api: Api,
}

impl Link {
    pub(crate) fn new(relay: &Relay, settings: &RelaySettings) -> Self {
        Link { host: relay.address().to_string(), token: relay.token().to_owned(), api: settings.api }
    }

    /// Returns a text with the placeholders replaced.
    pub(crate) fn fill(&self, text: &str) -> String {
        text.replace(URL, &format!("http://{}", self.host)).replace(TOKEN, &self.token)
    }

    /// Returns the variables that lead an agent to the relay.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.api.variables().iter().map(|(name, text)| ((*name).to_owned(), self.fill(text)))
    }
}

/// Returns true if a text has a placeholder.
pub(crate) fn has_placeholder(text: &str) -> bool {
    text.contains(URL) || text.contains(TOKEN)
}
