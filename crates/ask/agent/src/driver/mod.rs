//! One contract for all agents. A driver turns lines of an agent into events and our decisions into lines. It has no
//! process, no clock and no I/O, so each protocol is tested with bytes.
//!
//! A new driver is one file here, one word in [`DriverKind`](crate::settings::DriverKind) and one line in [`driver`].

mod acp;
mod claude;
mod codex;
mod command;
mod fields;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value as Json;

use crate::settings::DriverKind;

/// The order for one turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The session to resume; a new session is opened if this is `None`.
    pub session: Option<String>,
    /// The id of a new session, for agents that let the caller choose it.
    pub fresh: String,
    /// The working directory.
    pub folder: String,
    /// The text of the prompt. `None` means that only the handshake is done.
    pub text: Option<String>,
    /// The model, if the agent should not use its default.
    pub model: Option<String>,
}

/// Something that follows from a line of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A message that must be sent to the agent.
    Send(Json),
    /// The session is open; its id is needed to resume it.
    Session(String),
    /// The session to resume does not exist any more.
    NoSession(String),
    /// Progress of the turn.
    Update(Update),
    /// The agent asks for permission.
    Asked(Permission),
    /// The turn is over.
    Ended(End),
}

/// Progress of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A piece of the agent's reply. Pieces with the same id belong to one message.
    Text {
        /// The id of the message; empty if the protocol has none.
        message: String,
        /// The text.
        text: String,
    },
    /// A tool call begins, or more is known about it.
    CallStarted(ToolCall),
    /// A tool call is over.
    CallEnded {
        /// The id of the call.
        id: String,
        /// False if the tool failed or was denied.
        is_ok: bool,
        /// The exit code of a command, if the agent reports it.
        exit_code: Option<i64>,
        /// The output, cut to a reasonable length by the receiver.
        output: String,
    },
    /// The tokens and the cost of this turn so far.
    Usage(Usage),
    /// The model that works, as the agent names it.
    Model(String),
    /// Text and calls so far were history that the agent replayed.
    Replayed,
}

/// Tokens and cost of one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Input and output tokens together.
    pub tokens: u64,
    /// The cost of the whole session so far, if the agent reports it.
    pub session_cost: Option<f64>,
}

/// A tool call in the words of one contract.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolCall {
    /// The id of the call within the turn.
    pub id: String,
    /// The tool's name as the agent gives it.
    pub name: String,
    /// The kind of the call.
    pub kind: CallKind,
    /// The command line of a shell call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The paths that the call names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The address that the call fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The kind of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// It runs a command.
    Execute,
    /// It changes files.
    Edit,
    /// It reads files.
    Read,
    /// It fetches something from the network.
    Fetch,
    /// It asks the user a question.
    Question,
    /// Something else.
    #[default]
    Other,
}

/// A request for permission.
#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    /// The id that the answer must carry.
    pub id: String,
    /// The call that needs permission.
    pub call: ToolCall,
}

/// The end of a turn, as the protocol reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The agent says that it has finished.
    Finished,
    /// The model refuses to do it.
    Refused(String),
    /// The turn was cancelled.
    Cancelled,
    /// The model could not be reached, or failed.
    ModelUnavailable(String),
    /// The agent itself failed.
    Failed(String),
}

/// Translates between one protocol and the contract.
pub trait Driver: Send {
    /// Returns the first messages.
    fn begin(&mut self) -> Vec<Heard>;

    /// Reads one message of the agent. Unknown messages are ignored.
    fn hear(&mut self, message: &Json) -> Vec<Heard>;

    /// Answers a request for permission, for this one time only.
    fn answer(&mut self, id: &str, is_allowed: bool, reason: &str) -> Vec<Json>;

    /// Asks the agent to stop the turn.
    fn cancel(&mut self) -> Vec<Json>;
}

/// Returns the driver of a protocol, or the reason why there is none.
pub fn driver(kind: DriverKind, turn: Turn) -> Result<Box<dyn Driver>, String> {
    Ok(match kind {
        DriverKind::Acp => Box::new(acp::Acp::new(turn)),
        DriverKind::Claude => Box::new(claude::Claude::new(turn)),
        DriverKind::Codex => Box::new(codex::Codex::new(turn)),
        DriverKind::Command => Box::new(command::CommandAgent::new(turn)),
        DriverKind::Coder => {
            return Err("the driver `coder` is a run of our own machine and speaks no protocol".to_owned());
        }
    })
}
