//! A model on a server.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use interlock_http::{Address, Proxy};

use crate::model::Means;

/// A protocol to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// OpenAI's chat completions, which many servers speak.
    OpenaiChat,
    /// Ollama's own.
    Ollama,
    /// A program.
    Command,
}

/// A model on a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The protocol.
    pub provider: Provider,
    /// Where, without the protocol's own path.
    pub base_url: String,
    /// Which model.
    pub model: String,
    /// Where the key is.
    pub key: Key,
    /// Sent with every request.
    pub headers: BTreeMap<String, String>,
    /// Through whom to ask.
    pub proxy: Option<Proxy>,
    /// How long each part may take.
    pub timeouts: Timeouts,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// How often something that may pass is tried again.
    pub retries_max: u32,
    /// The longest wait before that; a server that wants more is given up.
    pub retry_wait_max: Duration,
    /// How much the model can read and write together.
    pub window_tokens: u64,
    /// The longest answer.
    pub reply_tokens_max: u32,
    /// How much chance; the server's own choice where nothing is said, because some models take no other.
    pub temperature: Option<f64>,
    /// How it is made to answer in JSON; found out where nothing is said.
    pub means: Option<Means>,
    /// What it costs.
    pub price: Price,
}

/// Where a key is; never the key itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Key {
    /// None is needed.
    #[default]
    None,
    /// In an environment variable.
    Env(String),
    /// In a file.
    File(PathBuf),
}

/// How long each part may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From then until the answer begins.
    pub first_byte: Duration,
    /// Between two pieces of it.
    pub silence: Duration,
    /// All of it.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Timeouts { connect: seconds(10), first_byte: seconds(120), silence: seconds(60), total: seconds(600) }
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Read.
    #[serde(default)]
    pub input_per_million: f64,
    /// Written.
    #[serde(default)]
    pub output_per_million: f64,
}

impl Price {
    /// What this much costs.
    pub fn of(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        let million = 1_000_000.0;
        input_tokens as f64 / million * self.input_per_million
            + output_tokens as f64 / million * self.output_per_million
    }
}

impl Key {
    /// The key, read when it is needed and kept by nobody.
    pub(crate) fn read(&self) -> Result<Option<String>, String> {
        let text = match self {
            Key::None => return Ok(None),
            Key::Env(name) => {
                std::env::var(name).map_err(|_| format!("the variable {name} with the key is not set"))?
            }
            Key::File(path) => {
                std::fs::read_to_string(path).map_err(|error| format!("the key file {}: {error}", path.display()))?
            }
        };
        match text.trim() {
            "" => Err("the key is empty".to_owned()),
            key => Ok(Some(key.to_owned())),
        }
    }
}

impl Server {
    /// Whether it is OpenAI itself, and not one of the many that speak like it.
    pub(crate) fn is_openai(&self) -> bool {
        Address::parse(&self.base_url).is_ok_and(|(address, _)| address.host == "api.openai.com")
    }
}
