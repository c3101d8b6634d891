//! The small protocol for any program: JSON lines with a field `type`. `docs/agents.md` describes it.

use serde_json::{Value as Json, json};

use super::{Driver, End, Heard, Permission, Turn, Update, Usage, fields};

/// The state of one turn.
#[derive(Debug)]
pub(super) struct CommandAgent {
    turn: Turn,
}

impl CommandAgent {
    pub(super) fn new(turn: Turn) -> Self {
        CommandAgent { turn }
    }
}

impl Driver for CommandAgent {
    fn begin(&mut self) -> Vec<Heard> {
        let Turn { session, fresh, folder, text, model } = &self.turn;
        let is_new = session.is_none();
        let id = session.as_ref().unwrap_or(fresh);
        let kind = if text.is_some() { "prompt" } else { "hello" };
        let prompt =
            json!({ "type": kind, "session": id, "new": is_new, "folder": folder, "text": text, "model": model });
        vec![Heard::Session(id.clone()), Heard::Send(prompt)]
    }

    fn hear(&mut self, message: &Json) -> Vec<Heard> {
        let word = |name: &str| fields::text(message, name).unwrap_or_default().to_owned();
        let call = || {
            let input = message.get("input").unwrap_or(&Json::Null);
            fields::call(&word("id"), &word("name"), fields::text(message, "kind"), input)
        };
        match fields::text(message, "type") {
            Some("message") => vec![Heard::Update(Update::Text { message: word("id"), text: word("text") })],
            Some("call") => vec![Heard::Update(Update::CallStarted(call()))],
            Some("result") => vec![Heard::Update(Update::CallEnded {
                id: word("id"),
                is_ok: message.get("ok").and_then(Json::as_bool) != Some(false),
                exit_code: message.get("exit_code").and_then(Json::as_i64),
                output: word("output"),
            })],
            Some("ask") => vec![Heard::Asked(Permission { id: word("id"), call: call() })],
            Some("usage") => vec![Heard::Update(Update::Usage(Usage {
                tokens: message.get("tokens").and_then(Json::as_u64).unwrap_or(0),
                session_cost: message.get("session_cost").and_then(Json::as_f64),
            }))],
            Some("model") => vec![Heard::Update(Update::Model(word("name")))],
            Some("no_session") => vec![Heard::NoSession(word("reason"))],
            Some("end") => vec![Heard::Ended(match fields::text(message, "reason") {
                Some("done") => End::Finished,
                Some("refused") => End::Refused(word("text")),
                Some("cancelled") => End::Cancelled,
                Some("model_unavailable") => End::ModelUnavailable(word("text")),
                other => End::Failed(format!("{}: {}", other.unwrap_or("no reason"), word("text"))),
            })],
            _ => Vec::new(),
        }
    }

    fn answer(&mut self, id: &str, is_allowed: bool, reason: &str) -> Vec<Json> {
        vec![json!({ "type": "answer", "id": id, "allow": is_allowed, "reason": reason })]
    }

    fn cancel(&mut self) -> Vec<Json> {
        vec![json!({ "type": "cancel" })]
    }
}
