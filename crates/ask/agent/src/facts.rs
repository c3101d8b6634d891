//! The facts of a turn that are collected while it runs, with bounds, so that memory does not grow with the transcript.

use interlock_activity::refused::Refused;
use serde::Serialize;

use crate::driver::{End, ToolCall, Update, Usage};

/// The number of tool calls that are kept.
const CALLS_MAX: usize = 1_000;

/// The length to which a call's output is cut.
const OUTPUT_CHARS_MAX: usize = 400;

/// The length to which a command is cut.
const COMMAND_CHARS_MAX: usize = 2_000;

/// The length of the reply that is kept: its end.
const REPLY_BYTES_MAX: usize = 16 * 1_024;

/// The facts of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) session: Option<String>,
    pub(crate) no_session: Option<String>,
    pub(crate) calls: Vec<CallFact>,
    pub(crate) decisions: Vec<Decided>,
    pub(crate) usage: Usage,
    /// The model, as the agent reports it.
    pub(crate) model: Option<String>,
    /// The last message of the agent.
    pub(crate) reply: String,
    message: String,
    pub(crate) end: Option<End>,
    /// The reason why we stopped the turn, if we did.
    pub(crate) stopped: Option<Stop>,
}

/// The reason why we stopped a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The attempt was cancelled.
    Cancelled,
    /// A budget of the run is spent.
    Budget(String),
    /// The agent does not keep to its protocol.
    Protocol(String),
}

/// A tool call and its result.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct CallFact {
    #[serde(flatten)]
    pub(crate) call: ToolCall,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i64>,
    pub(crate) output: String,
}

/// A decision on a permission request.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Decided {
    pub(crate) call: ToolCall,
    pub(crate) is_allowed: bool,
    /// `policy` or `person`, or `nobody` if nobody answered in time.
    pub(crate) by: &'static str,
    pub(crate) reason: String,
}

impl Decided {
    /// Returns a denied request as a refusal. A question that nobody answers in the middle of a turn is one, too.
    pub(crate) fn refused(&self) -> Refused {
        let ToolCall { command, paths, url, name, .. } = &self.call;
        let what = command.as_ref().or(url.as_ref()).or(paths.first()).unwrap_or(name);
        Refused::new(what.as_str(), self.by, &self.reason)
    }
}

impl Facts {
    /// Adds progress and returns a line for people who watch, if there is something to show.
    pub(crate) fn add(&mut self, update: Update) -> Option<String> {
        match update {
            Update::Text { message, text } => {
                if message != self.message {
                    self.reply.clear();
                    self.message = message;
                }
                self.reply.push_str(&text);
                cut_front(&mut self.reply);
                Some(text)
            }
            Update::CallStarted(call) => {
                // A message without an id ends when a tool is called.
                if self.message.is_empty() {
                    self.reply.clear();
                }
                self.started(call)
            }
            Update::CallEnded { id, is_ok, exit_code, output } => {
                let fact = self.calls.iter_mut().rev().find(|fact| fact.call.id == id)?;
                fact.is_ok = Some(is_ok);
                fact.exit_code = exit_code;
                fact.output = output.chars().take(OUTPUT_CHARS_MAX).collect();
                let how = if is_ok { "ok" } else { "failed" };
                Some(exit_code.map_or(format!("  {how}"), |code| format!("  {how}, exit code {code}")))
            }
            Update::Model(model) => {
                self.model = Some(model);
                None
            }
            Update::Replayed => {
                self.reply.clear();
                let decided = &self.decisions;
                self.calls.retain(|fact| decided.iter().any(|one| one.call.id == fact.call.id));
                None
            }
            Update::Usage(usage) => {
                let session_cost = usage.session_cost.or(self.usage.session_cost);
                self.usage = Usage { tokens: usage.tokens.max(self.usage.tokens), session_cost };
                None
            }
        }
    }

    fn started(&mut self, mut call: ToolCall) -> Option<String> {
        call.command = call.command.map(|command| command.chars().take(COMMAND_CHARS_MAX).collect());
        let what = call.command.clone().or_else(|| call.paths.first().cloned()).or_else(|| call.url.clone());
        let line = format!("{} {}", call.name, what.unwrap_or_default());
        match self.calls.iter_mut().rev().find(|fact| fact.call.id == call.id && fact.is_ok.is_none()) {
            Some(known) => {
                known.call = call;
                None
            }
            None => {
                if self.calls.len() < CALLS_MAX {
                    self.calls.push(CallFact { call, ..CallFact::default() });
                }
                Some(line.trim().to_owned())
            }
        }
    }
}

fn cut_front(text: &mut String) {
    let excess = text.len().saturating_sub(REPLY_BYTES_MAX);
    let at = (excess..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.drain(..at);
}
