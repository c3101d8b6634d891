//! Claude Code with JSON lines in both directions (`--input-format stream-json --output-format stream-json`).
//!
//! Permission requests arrive as control requests because of `--permission-prompt-tool stdio`. The fields `subtype` and
//! the exit code are not believed: a denied tool and some outages end as `success`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::{CallKind, Driver, End, Heard, Permission, Turn, Update, Usage, fields};

const INITIALIZE: &str = "interlock-initialize";
const INTERRUPT: &str = "interlock-interrupt";

/// The state of one turn.
#[derive(Debug)]
pub(super) struct Claude {
    turn: Turn,
    is_cancelled: bool,
    /// The arguments of open permission requests, which an answer must repeat.
    asked: BTreeMap<String, Json>,
    /// The messages whose tokens are counted.
    counted: BTreeSet<String>,
    tokens: u64,
}

impl Claude {
    pub(super) fn new(turn: Turn) -> Self {
        Claude { turn, is_cancelled: false, asked: BTreeMap::new(), counted: BTreeSet::new(), tokens: 0 }
    }

    fn initialized(&mut self, response: &Json) -> Vec<Heard> {
        if fields::text(response, "subtype") != Some("success") {
            return vec![Heard::Ended(End::Failed("it refused the handshake".to_owned()))];
        }
        let Some(text) = &self.turn.text else { return vec![Heard::Ended(End::Finished)] };
        let content = json!([{ "type": "text", "text": text }]);
        let message = json!({ "role": "user", "content": content });
        vec![Heard::Send(json!({ "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "" }))]
    }

    fn assistant(&mut self, message: &Json) -> Vec<Heard> {
        let id = fields::text(message, "id").unwrap_or_default().to_owned();
        let mut heard = Vec::new();
        for block in message.get("content").and_then(Json::as_array).into_iter().flatten() {
            match fields::text(block, "type") {
                Some("text") => {
                    let text = fields::text(block, "text").unwrap_or_default().to_owned();
                    heard.push(Heard::Update(Update::Text { message: id.clone(), text }));
                }
                Some("tool_use") => {
                    let (call, name) = (fields::text(block, "id"), fields::text(block, "name"));
                    let input = block.get("input").unwrap_or(&Json::Null);
                    let call = fields::call(call.unwrap_or_default(), name.unwrap_or_default(), None, input);
                    heard.push(Heard::Update(Update::CallStarted(call)));
                }
                _ => {}
            }
        }
        if let Some(usage) = message.get("usage").filter(|_| self.counted.insert(id)) {
            self.tokens += tokens(usage);
            heard.push(Heard::Update(Update::Usage(Usage { tokens: self.tokens, session_cost: None })));
        }
        heard
    }

    fn results(&self, event: &Json) -> Vec<Heard> {
        let blocks = event.pointer("/message/content").and_then(Json::as_array).into_iter().flatten();
        let results = blocks.filter(|block| fields::text(block, "type") == Some("tool_result"));
        let ended = results.map(|block| {
            let output = match block.get("content") {
                Some(Json::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            let is_ok = block.get("is_error").and_then(Json::as_bool) != Some(true);
            // A failed command reports its exit code in the text only.
            let exit_code = match is_ok {
                true => event.pointer("/tool_use_result/stdout").map(|_| 0),
                false => {
                    output.strip_prefix("Exit code ").and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                }
            };
            let id = fields::text(block, "tool_use_id").unwrap_or_default().to_owned();
            Heard::Update(Update::CallEnded { id, is_ok, exit_code, output })
        });
        ended.collect()
    }

    fn control(&mut self, event: &Json) -> Vec<Heard> {
        let request = event.get("request").unwrap_or(&Json::Null);
        let Some(id) = fields::text(event, "request_id") else { return Vec::new() };
        if fields::text(request, "subtype") != Some("can_use_tool") {
            let response = json!({ "subtype": "error", "request_id": id, "error": "not supported" });
            return vec![Heard::Send(json!({ "type": "control_response", "response": response }))];
        }
        let input = request.get("input").cloned().unwrap_or(Json::Null);
        let name = fields::text(request, "tool_name").unwrap_or_default();
        let mut call = fields::call(fields::text(request, "tool_use_id").unwrap_or_default(), name, None, &input);
        if call.kind == CallKind::Edit
            && let Some(path) = fields::text(request, "blocked_path")
            && !call.paths.iter().any(|known| known == path)
        {
            call.paths.push(path.to_owned());
        }
        self.asked.insert(id.to_owned(), input);
        vec![Heard::Asked(Permission { id: id.to_owned(), call })]
    }

    fn result(&mut self, event: &Json) -> Vec<Heard> {
        let used = event.get("usage").map(tokens).filter(|tokens| *tokens > 0).unwrap_or(self.tokens);
        let session_cost = event.get("total_cost_usd").and_then(Json::as_f64);
        let usage = Update::Usage(Usage { tokens: used.max(self.tokens), session_cost });
        let said = fields::text(event, "result").map(str::to_owned).unwrap_or_else(|| {
            let errors = event.get("errors").and_then(Json::as_array).into_iter().flatten();
            errors.filter_map(Json::as_str).collect::<Vec<_>>().join("; ")
        });
        let is_error = event.get("is_error").and_then(Json::as_bool) == Some(true);
        let status = event.get("api_error_status").filter(|status| !status.is_null());
        let end = match fields::text(event, "subtype") {
            _ if self.is_cancelled => End::Cancelled,
            _ if said.contains("No conversation found") => return vec![Heard::NoSession(said)],
            _ if fields::text(event, "stop_reason") == Some("refusal") => End::Refused(said),
            _ if status.is_some() || is_error && said.starts_with("API Error") => End::ModelUnavailable(said),
            Some("success") if !is_error => End::Finished,
            other => End::Failed(format!("{}: {said}", other.unwrap_or("no result"))),
        };
        vec![Heard::Update(usage), Heard::Ended(end)]
    }
}

impl Driver for Claude {
    fn begin(&mut self) -> Vec<Heard> {
        let request = json!({ "subtype": "initialize", "hooks": null });
        vec![Heard::Send(json!({ "type": "control_request", "request_id": INITIALIZE, "request": request }))]
    }

    fn hear(&mut self, event: &Json) -> Vec<Heard> {
        // Events of subagents carry the id of the call that started them; their calls count, their words do not.
        let is_ours = event.get("parent_tool_use_id").is_none_or(Json::is_null);
        match fields::text(event, "type") {
            Some("control_response") => match event.get("response") {
                Some(response) if fields::text(response, "request_id") == Some(INITIALIZE) => {
                    self.initialized(response)
                }
                _ => Vec::new(),
            },
            Some("system") if fields::text(event, "subtype") == Some("init") => {
                let session = fields::text(event, "session_id").map(|id| Heard::Session(id.to_owned()));
                let model = fields::text(event, "model").map(|model| Heard::Update(Update::Model(model.to_owned())));
                session.into_iter().chain(model).collect()
            }
            Some("assistant") => {
                let mut heard = self.assistant(event.get("message").unwrap_or(&Json::Null));
                heard.retain(|one| is_ours || !matches!(one, Heard::Update(Update::Text { .. })));
                heard
            }
            Some("user") => self.results(event),
            Some("control_request") => self.control(event),
            Some("result") => self.result(event),
            _ => Vec::new(),
        }
    }

    fn answer(&mut self, id: &str, is_allowed: bool, reason: &str) -> Vec<Json> {
        let Some(input) = self.asked.remove(id) else { return Vec::new() };
        let response = match is_allowed {
            true => json!({ "behavior": "allow", "updatedInput": input }),
            false => json!({ "behavior": "deny", "message": reason }),
        };
        let response = json!({ "subtype": "success", "request_id": id, "response": response });
        vec![json!({ "type": "control_response", "response": response })]
    }

    fn cancel(&mut self) -> Vec<Json> {
        self.is_cancelled = true;
        let request = json!({ "subtype": "interrupt" });
        vec![json!({ "type": "control_request", "request_id": INTERRUPT, "request": request })]
    }
}

fn tokens(usage: &Json) -> u64 {
    let names = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    names.iter().filter_map(|name| usage.get(name)?.as_u64()).sum()
}
