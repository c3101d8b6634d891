//! What the protocols have in common.

use serde_json::Value;

use super::{Ask, Fault, Means, Reply, Usage};
use crate::settings::Server;

/// A protocol.
pub(crate) trait Wire: Send + Sync {
    /// What telemetry calls the provider.
    fn provider(&self) -> &'static str;

    /// Where to ask, behind the base URL.
    fn path(&self) -> &'static str;

    /// How the key is shown, and what else the protocol wants in every request.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// What it can be made to answer in JSON with, strongest first.
    fn means(&self) -> &'static [Means];

    /// A request.
    fn body(&self, server: &Server, ask: &Ask<'_>, means: Means) -> Value;

    /// Takes in one piece of an answer that comes in pieces.
    fn piece(&self, piece: &Value, into: &mut Partial) -> Result<(), Fault>;

    /// Takes in an answer that comes at once.
    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault>;
}

/// An answer as far as it has come in.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    pub(crate) text: String,
    /// Arguments of the tool that was called.
    pub(crate) tool: String,
    pub(crate) refusal: String,
    pub(crate) finish: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) is_done: bool,
}

impl Partial {
    /// The answer, where it is one.
    pub(crate) fn finish(self, ask: &Ask<'_>) -> Result<Reply, Fault> {
        if !self.is_done {
            return Err(Fault::Stopped(format!("{} bytes had come, and no end", self.text.len() + self.tool.len())));
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
        let text = if self.tool.is_empty() { self.text } else { self.tool };
        let usage = self.usage.unwrap_or_else(|| estimate(ask, &text));
        Ok(Reply { text, is_cut_off, finish: self.finish, usage, model: self.model, id: self.id, confined: None })
    }

    pub(crate) fn known(&mut self, message: &Value) {
        let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        self.id = text("id").or(self.id.take());
        self.model = text("model").or(self.model.take());
    }
}

fn estimate(ask: &Ask<'_>, text: &str) -> Usage {
    Usage { input_tokens: ask.tokens(), output_tokens: super::estimate_tokens(text), is_estimate: true }
}

impl Ask<'_> {
    /// What it takes to ask this, reckoned from lengths.
    pub(crate) fn tokens(&self) -> u64 {
        let turns = self.turns.iter().map(|turn| match turn {
            super::Turn::User(text) | super::Turn::Model(text) => super::estimate_tokens(text),
        });
        super::estimate_tokens(self.system) + turns.sum::<u64>()
    }

    /// The schema for a server that enforces one strictly, with whether it can be enforced.
    pub(crate) fn strict(&self) -> (&Value, bool) {
        self.subset.map_or((self.schema, false), |subset| (subset, true))
    }

    /// The schema for a server that knows more words than strict ones do.
    pub(crate) fn lenient(&self) -> (&Value, bool) {
        self.bounded.map_or((self.schema, false), |bounded| (bounded, true))
    }
}

/// A number in an answer.
pub(crate) fn count(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// A text in an answer, or nothing.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What a server says in an error, however it wraps it.
pub(crate) fn said(body: &Value) -> Option<String> {
    let error = body.get("error").unwrap_or(body);
    let words = error.get("message").and_then(Value::as_str).or(error.as_str())?;
    let kind = error.get("type").and_then(Value::as_str).map(|kind| format!("{kind}: ")).unwrap_or_default();
    Some(format!("{kind}{words}"))
}

/// An error in the middle of an answer.
pub(crate) fn broken_off(body: &Value) -> Fault {
    Fault::BrokenOff(said(body).unwrap_or_else(|| body.to_string().chars().take(300).collect()))
}

/// What the answer is called where a protocol wants a name.
pub(crate) const ANSWER: &str = "verdict";
