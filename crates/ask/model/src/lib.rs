//! Calling a model: one question in, one text or several tool calls out, over the protocol of its server.
//!
//! An [`Asker`] gives a request its clock and its viewers. `settings.rs` describes a model, `turn.rs` the messages of a conversation. `wire.rs` holds the common part of the
//! protocols, and one file per protocol holds the rest; `call.rs` is one exchange with its timeouts, `retry.rs` decides
//! which failures are retried, `refusal.rs` reads why a server refused a request, and `server.rs` combines them and
//! detects the abilities of the server. [`embeddings`] makes vectors of texts, and [`telemetry`] exports every request.
//!
//! Nothing here trusts an answer: the crate `judge` checks it, whatever its source.

mod anthropic;
mod asker;
mod call;
mod chat;
pub mod embeddings;
mod frames;
mod ollama;
mod refusal;
mod responses;
mod retry;
mod server;
pub mod settings;
pub mod telemetry;
mod turn;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use asker::{Asker, Later};
pub use server::{AcceptedMeans, Called, Model, Try};
pub use turn::{CallsTurn, ToolCall, ToolResult, ToolSpec, Turn};

/// The beginning of a progress text that people should see, such as that a conversation was compacted.
pub const NOTICE: &str = "notice: ";

/// A request to a model, independent of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'q> {
    /// The system prompt: standing instructions.
    pub system: &'q str,
    /// The conversation so far; the last message is ours.
    pub turns: &'q [Turn],
    /// The tools that the model may call; empty if it answers with JSON.
    pub tools: &'q [ToolSpec],
    /// Instructions that stand for the tools if the server cannot take them.
    pub instead_of_tools: &'q str,
    /// The JSON Schema of the answer.
    pub schema: &'q Value,
    /// The reduced schema, for servers that enforce it strictly.
    pub subset: Option<&'q Value>,
    /// The reduced schema with bounds of lengths and numbers.
    pub bounded: Option<&'q Value>,
    /// The maximum length of the answer, in tokens.
    pub reply_tokens_max: u32,
}

/// The mechanism that makes a server answer in JSON, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// The tool calls of the protocol, with the tools of the request.
    Calls,
    /// The server's schema option for the answer.
    Schema,
    /// A forced tool call whose arguments the server promises to validate against the schema.
    StrictTool,
    /// A forced tool call without that promise.
    Tool,
    /// A grammar derived from the schema, as llama.cpp and vLLM support it.
    Grammar,
    /// JSON of any shape.
    Json,
    /// Only an instruction in the prompt.
    Prompt,
}

/// The tokens that a request used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, including those read from a cache.
    pub input_tokens: u64,
    /// Output tokens, including reasoning tokens.
    pub output_tokens: u64,
    /// True if the server did not report the usage and the numbers are estimated from lengths.
    #[serde(default)]
    pub is_estimate: bool,
}

/// A model's reply to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text, or the arguments of the tool that had to be called.
    pub text: String,
    /// The calls of the request's tools.
    pub calls: Vec<ReplyCall>,
    /// True if the reply was cut off at the output token limit.
    pub is_cut_off: bool,
    /// The stop reason, as the server names it.
    pub finish: String,
    /// The tokens that the request used.
    pub usage: Usage,
    /// The model that answered, if the server names it.
    pub model: Option<String>,
    /// The server's id of the answer.
    pub id: Option<String>,
    /// The confinement of the program, if a program answered.
    pub confined: Option<Value>,
}

/// A tool call, as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyCall {
    /// The id of the call; empty if the protocol has none.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: unchecked JSON text.
    pub args: String,
}

/// The reason why a request has no reply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The connection to the server failed.
    #[error("{0}")]
    Unreachable(String),
    /// A phase of the exchange exceeded its timeout.
    #[error("no {what} within {} s", after_ms / 1000.0)]
    Timeout {
        /// The phase that timed out.
        what: &'static str,
        /// The timeout in milliseconds.
        after_ms: f64,
    },
    /// The server answered with an error status.
    #[error("status {status}: {said}")]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The error message of the server.
        said: String,
        /// The delay that the server requests before a retry.
        retry_after_ms: Option<u64>,
    },
    /// The input is longer than the model's window, in the words of its server.
    #[error("the conversation does not fit into the model's window: {0}")]
    Overflow(String),
    /// The server reported an overload or a failure in the middle of an answer.
    #[error("the server closed the connection: {0}")]
    BrokenOff(String),
    /// The connection ended in the middle of an answer.
    #[error("the answer is incomplete: {0}")]
    Stopped(String),
    /// The answer does not follow the server's protocol.
    #[error("invalid answer: {0}")]
    NotUnderstood(String),
    /// The answer exceeds the maximum length.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The model refused to answer.
    #[error("the model refuses: {0}")]
    Refusal(String),
    /// A local prerequisite is missing, for example a key or a program.
    #[error("{0}")]
    Local(String),
}

impl Fault {
    /// Returns the next action of a person. `judge` is the model's name in the settings.
    pub fn next_step(&self, judge: &str) -> String {
        match self {
            Fault::Status { status: 401 | 403, .. } => {
                format!("check the key of `{judge}` in judges.toml (`key_env`), then send the request again")
            }
            Fault::Status { status: 402, .. } => "pay the provider, or choose another model with `--model`".to_owned(),
            Fault::Status { status: 404, .. } => format!("check `model` and `base_url` of `{judge}` in judges.toml"),
            Fault::Status { status: 408 | 409 | 425 | 429 | 500..=599, .. } | Fault::BrokenOff(_) | Fault::Stopped(_) => {
                "the provider is busy or broken: send the request again in a moment, or choose another model with `--model`".to_owned()
            }
            Fault::Status { .. } => {
                format!("correct what the provider complains about in `{judge}` of judges.toml, or choose another model with `--model`")
            }
            Fault::Unreachable(_) => {
                format!("check the network and `base_url` of `{judge}` in judges.toml, then send the request again")
            }
            Fault::Timeout { .. } => {
                format!("send the request again, or give `{judge}` longer timeouts in judges.toml")
            }
            Fault::Overflow(_) => {
                format!("ask for less at once, or set `window_tokens` of `{judge}` in judges.toml to the size of its window")
            }
            Fault::NotUnderstood(_) | Fault::TooLong(_) => {
                format!("check `provider` and `base_url` of `{judge}` in judges.toml; `interlock doctor` tests them")
            }
            Fault::Refusal(_) => "say it in other words, or choose another model with `--model`".to_owned(),
            Fault::Local(_) => format!("correct `{judge}` in judges.toml, then test it with `interlock doctor`"),
        }
    }
}

/// Estimates the tokens of a text on the high side: one per three bytes.
pub fn estimate_tokens(text: &str) -> u64 {
    text.len().div_ceil(3) as u64
}
