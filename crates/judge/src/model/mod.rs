//! Asking a model: one question in, one text out, over its server's own protocol.
//!
//! `wire.rs` is what the protocols have in common and each of the others is one protocol; `call.rs` is one exchange with its timeouts,
//! `retry.rs` says what is worth trying again, `server.rs` puts them together and finds out what the server can do. Nothing here
//! believes what comes back: `check` does not know where a text comes from.

mod anthropic;
mod call;
mod chat;
mod command;
mod frames;
mod ollama;
mod responses;
mod retry;
mod server;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use server::{Called, Found, Model, Try};

/// One thing said in a conversation with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", content = "text", rename_all = "snake_case")]
pub enum Turn {
    /// By us.
    User(String),
    /// By the model.
    Model(String),
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'q> {
    /// Standing instructions.
    pub system: &'q str,
    /// The conversation so far; the last turn is ours.
    pub turns: &'q [Turn],
    /// What the answer has to look like.
    pub schema: &'q Value,
    /// The same for servers that enforce it strictly.
    pub subset: Option<&'q Value>,
    /// The same with lengths and numbers bounded.
    pub bounded: Option<&'q Value>,
    /// The longest answer that is wanted.
    pub reply_tokens_max: u32,
}

/// How a server is made to answer in JSON, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// Its own schema option.
    Schema,
    /// A tool that must be called, whose arguments it promises to keep to the schema.
    StrictTool,
    /// A tool that must be called.
    Tool,
    /// A grammar made from the schema, as llama.cpp and vLLM have it.
    Grammar,
    /// JSON of any shape.
    Json,
    /// Only asked for.
    Prompt,
}

/// What a model used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, those from a cache included.
    pub input_tokens: u64,
    /// Tokens written, thinking included.
    pub output_tokens: u64,
    /// Whether the server did not say and this is reckoned from lengths.
    #[serde(default)]
    pub is_estimate: bool,
}

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text, or the arguments of the tool it called.
    pub text: String,
    /// Whether it was cut off at the most tokens that it may write.
    pub is_cut_off: bool,
    /// Why it stopped, in its server's words.
    pub finish: String,
    /// What it used up.
    pub usage: Usage,
    /// Which model really answered, where the server says.
    pub model: Option<String>,
    /// The server's name for the answer.
    pub id: Option<String>,
    /// What a program was confined by.
    pub confined: Option<Value>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// No connection.
    #[error("{0}")]
    Unreachable(String),
    /// It took too long.
    #[error("no {what} within {} s", after_ms / 1000.0)]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long, in milliseconds.
        after_ms: f64,
    },
    /// The server said no.
    #[error("status {status}: {said}")]
    Status {
        /// HTTP's number for it.
        status: u16,
        /// What it said.
        said: String,
        /// When to try again.
        retry_after_ms: Option<u64>,
    },
    /// The server said in the middle of an answer that it has too much to do or failed.
    #[error("the server broke off: {0}")]
    BrokenOff(String),
    /// The connection ended in the middle of an answer.
    #[error("the answer stops in the middle: {0}")]
    Stopped(String),
    /// What came is not the server's protocol.
    #[error("no proper answer: {0}")]
    NotUnderstood(String),
    /// The answer has no end.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The model does not want to.
    #[error("the model refuses: {0}")]
    Refusal(String),
    /// Something on this side is missing: a key, a program.
    #[error("{0}")]
    Local(String),
}

/// Tokens that a text takes, reckoned on the high side: three bytes each.
pub fn estimate_tokens(text: &str) -> u64 {
    text.len().div_ceil(3) as u64
}
