//! Codex over its app server: JSON-RPC without the version field, one message per line.
//!
//! `codex exec --json` cannot ask for permission and can only be stopped by a signal, so the app server is used although
//! Codex calls it experimental. Codex's own sandbox is switched off, because ours confines it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{CallKind, Driver, End, Heard, Permission, ToolCall, Turn, Update, Usage, fields};

const INITIALIZE: u64 = 1;
const THREAD: u64 = 2;
const TURN: u64 = 3;
const INTERRUPT: u64 = 4;

/// The state of one turn.
#[derive(Debug)]
pub(super) struct Codex {
    turn: Turn,
    thread: Option<String>,
    turn_id: Option<String>,
    calls: BTreeMap<String, ToolCall>,
    asked: BTreeMap<String, Json>,
    tokens: u64,
}

impl Codex {
    pub(super) fn new(turn: Turn) -> Self {
        Codex { turn, thread: None, turn_id: None, calls: BTreeMap::new(), asked: BTreeMap::new(), tokens: 0 }
    }

    fn answered(&mut self, id: u64, message: &Json) -> Vec<Heard> {
        let error = message.get("error").map(|error| fields::text(error, "message").unwrap_or("an error").to_owned());
        let result = message.get("result").unwrap_or(&Json::Null);
        match (id, error) {
            (INITIALIZE, None) => vec![Heard::Send(json!({ "method": "initialized" })), self.open()],
            (THREAD, Some(why)) if self.turn.session.is_some() => vec![Heard::NoSession(why)],
            (THREAD, None) => self.opened(result),
            (TURN, None) => {
                self.turn_id = result.pointer("/turn/id").and_then(Json::as_str).map(str::to_owned);
                Vec::new()
            }
            (INITIALIZE | THREAD | TURN, Some(why)) => vec![Heard::Ended(End::Failed(why))],
            _ => Vec::new(),
        }
    }

    fn open(&self) -> Heard {
        let mut params =
            json!({ "cwd": self.turn.folder, "approvalPolicy": "untrusted", "sandbox": "danger-full-access" });
        if let Some(model) = &self.turn.model {
            params["model"] = json!(model);
        }
        match &self.turn.session {
            None => request(THREAD, "thread/start", params),
            Some(thread) => {
                params["threadId"] = json!(thread);
                request(THREAD, "thread/resume", params)
            }
        }
    }

    fn opened(&mut self, result: &Json) -> Vec<Heard> {
        let Some(thread) = result.pointer("/thread/id").and_then(Json::as_str) else {
            return vec![Heard::Ended(End::Failed("it named no thread".to_owned()))];
        };
        self.thread = Some(thread.to_owned());
        let model = fields::text(result, "model").map(|model| Heard::Update(Update::Model(model.to_owned())));
        let mut heard: Vec<Heard> = std::iter::once(Heard::Session(thread.to_owned())).chain(model).collect();
        heard.push(match &self.turn.text {
            None => Heard::Ended(End::Finished),
            Some(text) => {
                let params = json!({ "threadId": thread, "input": [{ "type": "text", "text": text }] });
                request(TURN, "turn/start", params)
            }
        });
        heard
    }

    fn notified(&mut self, method: &str, params: &Json) -> Vec<Heard> {
        let item = params.get("item").unwrap_or(&Json::Null);
        match method {
            "turn/started" => {
                self.turn_id = params.pointer("/turn/id").and_then(Json::as_str).map(str::to_owned);
                Vec::new()
            }
            "item/started" => {
                self.call(item).map(|call| Heard::Update(Update::CallStarted(call))).into_iter().collect()
            }
            "item/completed" => self.completed(item),
            "thread/tokenUsage/updated" => {
                self.tokens += params.pointer("/tokenUsage/last/totalTokens").and_then(Json::as_u64).unwrap_or(0);
                vec![Heard::Update(Update::Usage(Usage { tokens: self.tokens, session_cost: None }))]
            }
            "turn/completed" => vec![Heard::Ended(end(params.get("turn").unwrap_or(&Json::Null)))],
            _ => Vec::new(),
        }
    }

    fn call(&mut self, item: &Json) -> Option<ToolCall> {
        let kind = fields::text(item, "type")?;
        let id = fields::text(item, "id").unwrap_or_default().to_owned();
        let name = |field: &str| fields::text(item, field).unwrap_or(kind).to_owned();
        let call = match kind {
            "commandExecution" => ToolCall {
                name: "exec_command".to_owned(),
                kind: CallKind::Execute,
                command: command(item),
                ..ToolCall::default()
            },
            "fileChange" => ToolCall {
                name: "apply_patch".to_owned(),
                kind: CallKind::Edit,
                paths: item
                    .get("changes")
                    .and_then(Json::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(|change| fields::text(change, "path").map(str::to_owned))
                    .collect(),
                ..ToolCall::default()
            },
            "mcpToolCall" | "dynamicToolCall" => ToolCall { name: name("tool"), ..ToolCall::default() },
            "webSearch" => ToolCall { name: kind.to_owned(), kind: CallKind::Fetch, ..ToolCall::default() },
            _ => return None,
        };
        let call = ToolCall { id: id.clone(), ..call };
        self.calls.insert(id, call.clone());
        Some(call)
    }

    fn completed(&mut self, item: &Json) -> Vec<Heard> {
        let id = fields::text(item, "id").unwrap_or_default().to_owned();
        if fields::text(item, "type") == Some("agentMessage") {
            let text = fields::text(item, "text").unwrap_or_default().to_owned();
            return vec![Heard::Update(Update::Text { message: id, text })];
        }
        let is_known = self.calls.contains_key(&id);
        let Some(call) = self.call(item) else { return Vec::new() };
        let ended = Update::CallEnded {
            id,
            is_ok: fields::text(item, "status") == Some("completed"),
            exit_code: item.get("exitCode").and_then(Json::as_i64),
            output: fields::text(item, "aggregatedOutput").unwrap_or_default().to_owned(),
        };
        let started = (!is_known).then_some(Heard::Update(Update::CallStarted(call)));
        started.into_iter().chain([Heard::Update(ended)]).collect()
    }

    fn asked(&mut self, id: &Json, method: &str, params: &Json) -> Vec<Heard> {
        let call = match method {
            "item/commandExecution/requestApproval" => {
                let call =
                    fields::text(params, "itemId").and_then(|id| self.calls.get(id)).cloned().unwrap_or_default();
                ToolCall { kind: CallKind::Execute, command: command(params).or(call.command), ..call }
            }
            "item/fileChange/requestApproval" => {
                let call =
                    fields::text(params, "itemId").and_then(|id| self.calls.get(id)).cloned().unwrap_or_default();
                ToolCall { kind: CallKind::Edit, ..call }
            }
            _ => {
                let error = json!({ "code": -32601, "message": format!("{method} is not supported") });
                return vec![Heard::Send(json!({ "id": id, "error": error }))];
            }
        };
        let key = id.to_string();
        self.asked.insert(key.clone(), id.clone());
        vec![Heard::Asked(Permission { id: key, call })]
    }
}

impl Driver for Codex {
    fn begin(&mut self) -> Vec<Heard> {
        let client = json!({ "name": "interlock", "title": "Interlock", "version": env!("CARGO_PKG_VERSION") });
        vec![request(INITIALIZE, "initialize", json!({ "clientInfo": client }))]
    }

    fn hear(&mut self, message: &Json) -> Vec<Heard> {
        let params = message.get("params").unwrap_or(&Json::Null);
        match (fields::text(message, "method"), message.get("id")) {
            (Some(method), None) => self.notified(method, params),
            (Some(method), Some(id)) => self.asked(id, method, params),
            (None, Some(id)) => id.as_u64().map(|id| self.answered(id, message)).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn answer(&mut self, id: &str, is_allowed: bool, _reason: &str) -> Vec<Json> {
        let Some(request) = self.asked.remove(id) else { return Vec::new() };
        let decision = if is_allowed { "accept" } else { "decline" };
        vec![json!({ "id": request, "result": { "decision": decision } })]
    }

    fn cancel(&mut self) -> Vec<Json> {
        let (Some(thread), Some(turn)) = (&self.thread, &self.turn_id) else { return Vec::new() };
        vec![json!({ "id": INTERRUPT, "method": "turn/interrupt", "params": { "threadId": thread, "turnId": turn } })]
    }
}

/// Returns the command without the shell that Codex wraps around it.
fn command(item: &Json) -> Option<String> {
    let action = item.pointer("/commandActions/0/command").and_then(Json::as_str);
    let is_only = item.get("commandActions").and_then(Json::as_array).is_some_and(|actions| actions.len() == 1);
    action.filter(|_| is_only).or_else(|| fields::text(item, "command")).map(str::to_owned)
}

fn end(turn: &Json) -> End {
    let error = turn.get("error").unwrap_or(&Json::Null);
    let why = fields::text(error, "message").unwrap_or("the turn failed").to_owned();
    let info = error.get("codexErrorInfo").unwrap_or(&Json::Null);
    let word = info.as_str().or_else(|| info.as_object()?.keys().next().map(String::as_str));
    match (fields::text(turn, "status"), word) {
        (Some("completed"), _) => End::Finished,
        (Some("interrupted"), _) => End::Cancelled,
        (_, Some("cyberPolicy" | "misalignmentPolicyViolation" | "tooManyDenials")) => End::Refused(why),
        (_, Some("badRequest" | "sandboxError" | "contextWindowExceeded" | "threadRollbackFailed")) => End::Failed(why),
        _ => End::ModelUnavailable(why),
    }
}

fn request(id: u64, method: &str, params: Json) -> Heard {
    Heard::Send(json!({ "id": id, "method": method, "params": params }))
}
