//! The settings of one model: a server, or a program that answers instead of one.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use interlock_http::{Address, Proxy};
use interlock_sandbox::{Kind, Network};

use crate::Means;

/// The implementation of a judge.
#[derive(Clone, Debug, PartialEq)]
pub enum Backend {
    /// A model on a server.
    Server(Box<Server>),
    /// A program that reads the question from stdin and prints the answer.
    Command(Command),
}

/// A program that acts as a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Environment variables that are passed in addition to the usual ones.
    pub env: Vec<String>,
    /// The network access that it has.
    pub network: Network,
    /// The sandbox that confines it; the default of all programs if not set.
    pub sandbox: Option<Kind>,
    /// The time limits; only the total applies.
    pub timeouts: Timeouts,
    /// The context window in tokens.
    pub window_tokens: u64,
}

/// The protocol of a judge's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Anthropic's Messages protocol.
    Anthropic,
    /// OpenAI's Responses protocol.
    OpenaiResponses,
    /// OpenAI's chat completions protocol, which many servers speak.
    OpenaiChat,
    /// Ollama's native protocol.
    Ollama,
    /// A program instead of a server.
    Command,
}

/// A model on a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The protocol that the server speaks.
    pub provider: Provider,
    /// The base URL, without the path of the protocol.
    pub base_url: String,
    /// The model's name, as the server knows it.
    pub model: String,
    /// The location of the API key.
    pub key: Key,
    /// Extra headers that are sent with every request.
    pub headers: BTreeMap<String, String>,
    /// The proxy to use, if any.
    pub proxy: Option<Proxy>,
    /// The time limit of each phase.
    pub timeouts: Timeouts,
    /// True if the answer is streamed.
    pub stream: bool,
    /// The maximum number of retries after transient failures.
    pub retries_max: u32,
    /// The maximum delay before a retry; if a server asks for more, the request fails.
    pub retry_wait_max: Duration,
    /// The context window: the tokens that the model can read and write together.
    pub window_tokens: u64,
    /// The maximum length of an answer, in tokens.
    pub reply_tokens_max: u32,
    /// The sampling temperature; the server's default if not set, because some models accept no other value.
    pub temperature: Option<f64>,
    /// False if the server cannot take tools; detected automatically if not set.
    pub tools: Option<bool>,
    /// The length of a conversation, in tokens, at which old messages are replaced by a digest; as much as fits into the
    /// window if not set.
    pub conversation_tokens_max: Option<u64>,
    /// The mechanism for JSON answers; detected automatically if not set.
    pub means: Option<Means>,
    /// The price of its tokens.
    pub price: Price,
}

/// The location of an API key; never the key itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Key {
    /// The server needs no key.
    #[default]
    None,
    /// The key is in this environment variable.
    Env(String),
    /// The key is in this file.
    File(PathBuf),
}

/// The time limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The time to establish the connection.
    pub connect: Duration,
    /// The time limit from the connection to the first byte of the answer.
    pub first_byte: Duration,
    /// The maximum pause between two pieces of the answer.
    pub silence: Duration,
    /// The time limit of the whole exchange.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Timeouts { connect: seconds(10), first_byte: seconds(120), silence: seconds(60), total: seconds(600) }
    }
}

/// The price per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of input tokens.
    #[serde(default)]
    pub input_per_million: f64,
    /// The price of output tokens.
    #[serde(default)]
    pub output_per_million: f64,
}

impl Price {
    /// Returns the cost of this many tokens.
    pub fn of(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        let million = 1_000_000.0;
        input_tokens as f64 / million * self.input_per_million
            + output_tokens as f64 / million * self.output_per_million
    }
}

impl Key {
    /// Reads the key. It is read for each request and never stored.
    pub fn read(&self) -> Result<Option<String>, String> {
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
    /// Reports if the server is OpenAI itself, and not a compatible one.
    pub(crate) fn is_openai(&self) -> bool {
        Address::parse(&self.base_url).is_ok_and(|(address, _)| address.host == "api.openai.com")
    }
}
