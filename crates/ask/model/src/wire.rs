//! The part that all protocols share.

use serde_json::Value;

use crate::{Ask, Fault, Means, Reply, ReplyCall, Usage, refusal, settings::Server};

/// The protocol of a model server.
pub(crate) trait Wire: Send + Sync {
    /// Returns the provider's name in telemetry.
    fn provider(&self) -> &'static str;

    /// Returns the path of the endpoint, relative to the base URL.
    fn path(&self) -> &'static str;

    /// Returns the authentication header and the other headers that every request needs.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// Returns the JSON mechanisms that the protocol supports, strongest first.
    fn means(&self) -> &'static [Means];

    /// Builds the body of a request.
    fn body(&self, server: &Server, ask: &Ask<'_>, means: Means) -> Value;

    /// Processes one piece of a streamed answer.
    fn piece(&self, piece: &Value, into: &mut Partial) -> Result<(), Fault>;

    /// Processes an answer that is not streamed.
    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault>;
}

/// The part of an answer that has been received so far.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    pub(crate) text: String,
    /// The tool calls, each with its position in the answer.
    calls: Vec<(u64, ReplyCall)>,
    pub(crate) refusal: String,
    pub(crate) finish: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) is_done: bool,
}

impl Partial {
    /// Returns the reply; fails if the answer is incomplete or a refusal.
    pub(crate) fn finish(self, ask: &Ask<'_>, means: Means) -> Result<Reply, Fault> {
        if !self.is_done {
            return Err(Fault::Stopped(format!(
                "the answer was incomplete after {} bytes",
                self.text.len() + self.calls.iter().map(|(_, call)| call.args.len()).sum::<usize>()
            )));
        }
        let is_refusal = matches!(self.finish.as_str(), "refusal" | "content_filter");
        if is_refusal || !self.refusal.is_empty() {
            let said = if self.refusal.is_empty() { self.text } else { self.refusal };
            return Err(Fault::Refusal(said.chars().take(500).collect()));
        }
        let is_cut_off = matches!(
            self.finish.as_str(),
            "max_tokens" | "length" | "max_output_tokens" | "model_context_window_exceeded"
        );
        let calls = self.calls.into_iter().map(|(_, call)| call);
        let arguments: String = calls.clone().map(|call| call.args).collect();
        let usage = self.usage.unwrap_or_else(|| estimate(ask, &(self.text.clone() + &arguments)));
        let (text, calls) = match (means, arguments.is_empty()) {
            (Means::Calls, _) => (self.text, calls.collect()),
            (_, true) => (self.text, Vec::new()),
            (_, false) => (arguments, Vec::new()),
        };
        let (finish, model, id) = (self.finish, self.model, self.id);
        Ok(Reply { text, calls, is_cut_off, finish, usage, model, id, confined: None })
    }

    /// Returns the tool call at a position of the answer.
    pub(crate) fn call(&mut self, at: u64) -> &mut ReplyCall {
        let found = self.calls.iter().rposition(|(position, _)| *position == at);
        let index = found.unwrap_or_else(|| {
            self.calls.push((at, ReplyCall::default()));
            self.calls.len() - 1
        });
        &mut self.calls[index].1
    }

    /// Adds a tool call at the end of the answer. Some servers give all calls the same position.
    pub(crate) fn new_call(&mut self, at: u64, id: &str, name: &str) -> &mut ReplyCall {
        let call = ReplyCall { id: id.to_owned(), name: name.to_owned(), args: String::new() };
        self.calls.push((at, call));
        self.call(at)
    }

    /// Returns the number of tool calls.
    pub(crate) fn calls_count(&self) -> u64 {
        self.calls.len() as u64
    }

    pub(crate) fn known(&mut self, message: &Value) {
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        self.id = text("id").or(self.id.take());
        self.model = text("model").or(self.model.take());
    }
}

fn estimate(ask: &Ask<'_>, text: &str) -> Usage {
    Usage { input_tokens: ask.tokens(), output_tokens: crate::estimate_tokens(text), is_estimate: true }
}

impl Ask<'_> {
    /// Estimates the input tokens of this request from lengths.
    pub fn tokens(&self) -> u64 {
        let tools = self
            .tools
            .iter()
            .map(|tool| crate::estimate_tokens(&tool.description) + crate::estimate_tokens(&tool.schema.to_string()));
        let turns = self.turns.iter().map(crate::Turn::tokens);
        crate::estimate_tokens(self.system) + tools.sum::<u64>() + turns.sum::<u64>()
    }

    /// Returns the system text for a mechanism. Without native tool calls it describes the tools.
    pub(crate) fn system(&self, means: Means) -> String {
        match self.tools.is_empty() || means == Means::Calls {
            true => self.system.to_owned(),
            false => format!("{}\n{}", self.system, self.instead_of_tools),
        }
    }

    /// Returns the messages as texts, for servers without tools: the role and the content.
    pub(crate) fn texts(&self) -> Vec<Value> {
        let text = |turn: &crate::Turn| {
            let (is_ours, text) = turn.plain();
            serde_json::json!({ "role": if is_ours { "user" } else { "assistant" }, "content": text })
        };
        self.turns.iter().map(text).collect()
    }

    /// Returns the schema for a server that enforces one strictly, and if it can be enforced.
    pub(crate) fn strict(&self) -> (&Value, bool) {
        self.subset.map_or((self.schema, false), |subset| (subset, true))
    }

    /// Returns the schema for a server that supports more keywords than the strict ones.
    pub(crate) fn lenient(&self) -> (&Value, bool) {
        self.bounded.map_or((self.schema, false), |bounded| (bounded, true))
    }
}

/// Reads a number of an answer; zero if it is missing.
pub(crate) fn count(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Reads a text of an answer; empty if it is missing.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the message of a server error, for all wrappings in use.
pub(crate) fn said(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let words = error.get("message").and_then(Value::as_str).or(error.as_str())?;
    let kind = error.get("type").and_then(Value::as_str).map(|kind| format!("{kind}: ")).unwrap_or_default();
    Some(format!("{kind}{words}"))
}

/// Returns the fault for an error in the middle of an answer.
pub(crate) fn broken_off(body: &Value) -> Fault {
    let words = body.to_string();
    let said = said(body).unwrap_or_else(|| words.chars().take(300).collect());
    match refusal::is_overflow(None, &words) {
        true => Fault::Overflow(said),
        false => Fault::BrokenOff(said),
    }
}

/// The name of the answer, for protocols that need one.
pub(crate) const ANSWER: &str = "verdict";
