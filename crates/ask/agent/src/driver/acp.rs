//! The Agent Client Protocol, version 1: JSON-RPC, one message per line.
//!
//! Agents differ: some report a call first inside a permission request, some send updates about calls that were never
//! announced, and option ids are arbitrary. So calls are built from every message that names them, and options are
//! chosen by kind.
//!
//! An agent that loads a session replays its history before it answers, and that is not progress of this turn. One that
//! replays nothing has lost the session: Qwen Code does not say so. Gemini CLI replays after its answer, so a message of
//! the user that arrives in a turn means that everything before it was old, and its list of commands ends the history.
//!
//! Tokens are in three places: `usage` of the answer (the protocol's), `_meta.quota` of the answer (Gemini CLI) and
//! `_meta.usage` of message chunks, one for each model call (Qwen Code).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::{Driver, End, Heard, Permission, ToolCall, Turn, Update, Usage, fields};

const INITIALIZE: u64 = 1;
const SESSION: u64 = 2;
const PROMPT: u64 = 3;

/// The state of one turn.
#[derive(Debug)]
pub(super) struct Acp {
    turn: Turn,
    session: Option<String>,
    is_prompted: bool,
    /// True if the agent replays history after its answer.
    is_late: bool,
    /// True if history was replayed, or is being replayed late.
    is_replayed: bool,
    /// The tokens that message chunks have reported in this turn.
    tokens: u64,
    calls: BTreeMap<String, ToolCall>,
    /// The open permission requests: our key, the id of the request and its options.
    asked: BTreeMap<String, (Json, Vec<Json>)>,
    /// The calls of this turn that permission was asked for.
    asked_calls: BTreeSet<String>,
}

impl Acp {
    pub(super) fn new(turn: Turn) -> Self {
        Acp {
            turn,
            session: None,
            is_prompted: false,
            is_late: false,
            is_replayed: false,
            tokens: 0,
            calls: BTreeMap::new(),
            asked: BTreeMap::new(),
            asked_calls: BTreeSet::new(),
        }
    }

    fn answered(&mut self, id: u64, message: &Json) -> Vec<Heard> {
        let error = message.get("error").map(said);
        let result = message.get("result").unwrap_or(&Json::Null);
        match (id, error) {
            (INITIALIZE, Some(why)) => vec![Heard::Ended(End::Failed(format!("it refused the handshake: {why}")))],
            (INITIALIZE, None) => self.initialized(result),
            (SESSION, Some(why)) if self.turn.session.is_some() => vec![Heard::NoSession(why)],
            (SESSION, Some(why)) => vec![Heard::Ended(End::Failed(format!("it opened no session: {why}")))],
            (SESSION, None) => self.opened(result),
            (PROMPT, Some(why)) => vec![Heard::Ended(End::ModelUnavailable(why))],
            (PROMPT, None) => over(result, self.tokens),
            _ => Vec::new(),
        }
    }

    fn initialized(&mut self, result: &Json) -> Vec<Heard> {
        self.is_late = result.pointer("/agentInfo/name") == Some(&json!("gemini-cli"));
        let can_load = result.pointer("/agentCapabilities/loadSession") == Some(&json!(true));
        let params = json!({ "cwd": self.turn.folder, "mcpServers": [] });
        match &self.turn.session {
            None => vec![request(SESSION, "session/new", params)],
            Some(_) if !can_load => vec![Heard::NoSession("it cannot load sessions".to_owned())],
            Some(session) => {
                let mut params = params;
                params["sessionId"] = json!(session);
                vec![request(SESSION, "session/load", params)]
            }
        }
    }

    fn opened(&mut self, result: &Json) -> Vec<Heard> {
        if self.turn.session.is_some() && !self.is_late && !self.is_replayed {
            return vec![Heard::NoSession("it replayed no history of the session".to_owned())];
        }
        self.is_replayed = false;
        let session = fields::text(result, "sessionId").map(str::to_owned).or_else(|| self.turn.session.clone());
        let Some(session) = session else {
            return vec![Heard::Ended(End::Failed("it named no session".to_owned()))];
        };
        self.session = Some(session.clone());
        let model = result.pointer("/models/currentModelId").and_then(Json::as_str);
        let model = model.map(|model| Heard::Update(Update::Model(model.to_owned())));
        let mut heard: Vec<Heard> = std::iter::once(Heard::Session(session.clone())).chain(model).collect();
        let Some(text) = &self.turn.text else {
            heard.push(Heard::Ended(End::Finished));
            return heard;
        };
        self.is_prompted = true;
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        heard.push(request(PROMPT, "session/prompt", params));
        heard
    }

    fn update(&mut self, update: &Json) -> Vec<Heard> {
        if !self.is_prompted {
            let kind = fields::text(update, "sessionUpdate").unwrap_or_default();
            self.is_replayed |= kind.ends_with("_chunk") || kind.starts_with("tool_call");
            return Vec::new();
        }
        match fields::text(update, "sessionUpdate") {
            Some("agent_message_chunk") => {
                let text = update.pointer("/content/text").and_then(Json::as_str).unwrap_or_default().to_owned();
                let message = fields::text(update, "messageId").unwrap_or_default().to_owned();
                let text = Heard::Update(Update::Text { message, text });
                std::iter::once(text).chain(self.chunk_usage(update)).collect()
            }
            Some("user_message_chunk") if self.is_late && self.turn.session.is_some() => self.replayed(true),
            Some("available_commands_update") if self.is_replayed => self.replayed(false),
            Some("tool_call" | "tool_call_update") => self.call(update),
            _ => Vec::new(),
        }
    }

    /// Forgets the progress so far: it was history. `is_going_on` says that more of it may follow.
    fn replayed(&mut self, is_going_on: bool) -> Vec<Heard> {
        self.is_replayed = is_going_on;
        self.calls.retain(|id, _| self.asked_calls.contains(id));
        vec![Heard::Update(Update::Replayed)]
    }

    /// Returns the tokens of the turn so far if a message chunk reports those of a model call.
    fn chunk_usage(&mut self, update: &Json) -> Option<Heard> {
        let usage = update.pointer("/_meta/usage")?;
        let field = |name: &str| usage.get(name).and_then(Json::as_u64);
        let sum = || Some(field("inputTokens")?.saturating_add(field("outputTokens")?));
        self.tokens = self.tokens.saturating_add(field("totalTokens").or_else(sum)?);
        Some(Heard::Update(Update::Usage(Usage { tokens: self.tokens, session_cost: None })))
    }

    /// Merges a message about a call into what is known of the call.
    fn call(&mut self, message: &Json) -> Vec<Heard> {
        let Some(id) = fields::text(message, "toolCallId") else { return Vec::new() };
        let name = message.pointer("/_meta/goose/toolCall/toolName").and_then(Json::as_str);
        let name = name.or_else(|| fields::text(message, "title")).unwrap_or_default();
        let found =
            fields::call(id, name, fields::text(message, "kind"), message.get("rawInput").unwrap_or(&Json::Null));
        let is_new = !self.calls.contains_key(id);
        let known =
            self.calls.entry(id.to_owned()).or_insert_with(|| ToolCall { id: id.to_owned(), ..ToolCall::default() });
        let before = known.clone();
        merge(known, found, message);
        let mut heard = Vec::new();
        if is_new || *known != before {
            heard.push(Heard::Update(Update::CallStarted(known.clone())));
        }
        let status = fields::text(message, "status");
        if let Some("completed" | "failed") = status {
            heard.push(Heard::Update(Update::CallEnded {
                id: id.to_owned(),
                is_ok: status == Some("completed"),
                exit_code: exit_code(message),
                output: output(message),
            }));
        }
        heard
    }

    fn permission(&mut self, id: &Json, params: &Json) -> Vec<Heard> {
        let call = with_command(params.get("toolCall").unwrap_or(&Json::Null));
        self.asked_calls.extend(fields::text(&call, "toolCallId").map(str::to_owned));
        let call = &call;
        let mut heard = self.call(call);
        let key = id.to_string();
        let options = params.get("options").and_then(Json::as_array).cloned().unwrap_or_default();
        self.asked.insert(key.clone(), (id.clone(), options));
        let named = fields::text(call, "toolCallId").and_then(|id| self.calls.get(id)).cloned().unwrap_or_default();
        heard.push(Heard::Asked(Permission { id: key, call: named }));
        heard
    }
}

impl Driver for Acp {
    fn begin(&mut self) -> Vec<Heard> {
        let abilities = json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let params = json!({ "protocolVersion": 1, "clientCapabilities": abilities });
        vec![request(INITIALIZE, "initialize", params)]
    }

    fn hear(&mut self, message: &Json) -> Vec<Heard> {
        let params = message.get("params").unwrap_or(&Json::Null);
        match (fields::text(message, "method"), message.get("id")) {
            (Some("session/update"), None) => self.update(params.get("update").unwrap_or(&Json::Null)),
            (Some("session/request_permission"), Some(id)) => self.permission(id, params),
            (Some(method), Some(id)) => {
                let why = format!("{method} is not supported");
                vec![Heard::Send(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": why } }))]
            }
            (None, Some(id)) => id.as_u64().map(|id| self.answered(id, message)).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn answer(&mut self, id: &str, is_allowed: bool, _reason: &str) -> Vec<Json> {
        let Some((request, options)) = self.asked.remove(id) else { return Vec::new() };
        let kinds = if is_allowed { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
        let option =
            kinds.iter().find_map(|kind| options.iter().find(|option| fields::text(option, "kind") == Some(kind)));
        let outcome = match option.and_then(|option| option.get("optionId")) {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        vec![json!({ "jsonrpc": "2.0", "id": request, "result": { "outcome": outcome } })]
    }

    fn cancel(&mut self) -> Vec<Json> {
        let open: Vec<String> = self.asked.keys().cloned().collect();
        let mut messages: Vec<Json> = open.iter().flat_map(|id| self.answer(id, false, "")).collect();
        if let Some(session) = &self.session {
            messages.push(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }));
        }
        messages
    }
}

fn merge(known: &mut ToolCall, found: ToolCall, message: &Json) {
    // Later titles are often summaries in the model's words, so the first name stays.
    if known.name.is_empty() {
        known.name = found.name;
    }
    if found.kind != super::CallKind::Other {
        known.kind = found.kind;
    }
    known.command = found.command.or(known.command.take());
    known.url = found.url.or(known.url.take());
    let places = message.get("locations").and_then(Json::as_array).into_iter().flatten();
    for path in found.paths.into_iter().chain(places.filter_map(|place| Some(fields::text(place, "path")?.to_owned())))
    {
        if !known.paths.contains(&path) {
            known.paths.push(path);
        }
    }
}

/// Returns the exit code of a command, from the fields of several agents or from the text of Qwen Code.
fn exit_code(message: &Json) -> Option<i64> {
    let places =
        ["/rawOutput/exit_code", "/rawOutput/exitCode", "/rawOutput/metadata/exit", "/_meta/terminal_exit/exit_code"];
    let field = places.iter().find_map(|path| message.pointer(path)?.as_i64());
    let is_qwen = message.pointer("/_meta/toolName").and_then(Json::as_str) == Some("run_shell_command");
    let line = || output(message).lines().find_map(|line| line.strip_prefix("Exit Code: ")?.parse().ok());
    field.or_else(|| is_qwen.then(line).flatten())
}

fn output(message: &Json) -> String {
    let content = message.get("content").and_then(Json::as_array).into_iter().flatten();
    content.filter_map(|part| part.pointer("/content/text")?.as_str()).collect::<Vec<_>>().join("\n")
}

/// Returns a call whose title is its command as a call with that command: an agent that asks to run something and names
/// no arguments puts the command line into the title, as Gemini CLI does.
fn with_command(call: &Json) -> Json {
    let is_bare = call.get("rawInput").is_none_or(Json::is_null);
    let title = fields::text(call, "title").unwrap_or_default().trim();
    let line = title.strip_prefix('`').and_then(|line| line.strip_suffix('`')).unwrap_or(title);
    let mut call = call.clone();
    if is_bare && fields::text(&call, "kind") == Some("execute") && !line.is_empty() {
        call["rawInput"] = json!({ "command": line });
    }
    call
}

/// Returns the tokens of a turn that an answer to a prompt reports.
fn tokens_of(result: &Json) -> Option<u64> {
    let quota = result.pointer("/_meta/quota/token_count");
    let of_quota = |name: &str| quota.and_then(|quota| quota.get(name)).and_then(Json::as_u64);
    let quota = of_quota("input_tokens").map(|input| input.saturating_add(of_quota("output_tokens").unwrap_or(0)));
    result.pointer("/usage/totalTokens").and_then(Json::as_u64).max(quota)
}

fn over(result: &Json, of_chunks: u64) -> Vec<Heard> {
    let tokens = tokens_of(result).max(Some(of_chunks)).filter(|tokens| *tokens > 0);
    let usage = tokens.map(|tokens| Heard::Update(Update::Usage(Usage { tokens, session_cost: None })));
    let end = match fields::text(result, "stopReason") {
        Some("end_turn") => End::Finished,
        Some("cancelled") => End::Cancelled,
        Some("refusal") => End::Refused("the model refuses".to_owned()),
        other => End::Failed(format!("the turn ended with {}", other.unwrap_or("no reason"))),
    };
    usage.into_iter().chain([Heard::Ended(end)]).collect()
}

fn said(error: &Json) -> String {
    let message = fields::text(error, "message").unwrap_or("an error without a message");
    match error.get("data") {
        Some(Json::String(data)) => format!("{message}: {data}"),
        Some(data) if !data.is_null() => format!("{message}: {data}"),
        _ => message.to_owned(),
    }
}

fn request(id: u64, method: &str, params: Json) -> Heard {
    Heard::Send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}
