//! The Model Context Protocol, so that coding agents and editors can use Interlock: over HTTP at `/mcp`, and over stdin
//! and stdout by `interlock mcp`.
//!
//! Each tool is an endpoint of the API, called in the process with the same checks. The caller is a program that works for
//! a model, whatever its token allows: it can start runs and read them, but it cannot answer for a person.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    body::{Body, to_bytes},
    extract::{Request, State as Extracted},
    http::{Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};
use tower::ServiceExt as _;

use crate::{
    Identity, Role,
    api::{self, Tool},
    app::State,
};

/// The versions of the protocol that the server speaks, newest first.
const VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// The length of the longest answer of a tool, in bytes; a longer one is cut.
const ANSWER_BYTES_MAX: usize = 60_000;

/// The size of the largest answer of an endpoint that is read.
const READ_BYTES_MAX: usize = 16 * 1024 * 1024;

const INSTRUCTIONS: &str = "Interlock runs agents as statecharts that are proved before they run. List machines, describe \
     one to see its input, start a run in a project directory, and follow it with show_run and trace_run. A run that waits \
     for a person must be answered by a person on the page or with `interlock send`; you cannot approve it.";

/// Errors of JSON-RPC.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const NO_METHOD: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

/// Answers a message over HTTP. A notification has no answer.
pub(crate) async fn over_http(
    Extracted(app): Extracted<State>,
    Extension(sender): Extension<Arc<Identity>>,
    message: String,
) -> Response {
    let session = Session { router: api::router().with_state(app), identity: as_agent(&sender) };
    match session.answer(&message).await {
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// A model never acts with the rights of a person.
fn as_agent(sender: &Identity) -> Arc<Identity> {
    Arc::new(Identity { name: sender.name.clone(), role: sender.role.min(Role::Agent) })
}

/// A conversation with a client.
pub(crate) struct Session {
    pub(crate) router: Router,
    pub(crate) identity: Arc<Identity>,
}

impl Session {
    /// Answers a message; `None` if it is a notification.
    pub(crate) async fn answer(&self, message: &str) -> Option<Value> {
        let Ok(message) = serde_json::from_str::<Value>(message) else {
            return Some(failure(&Value::Null, PARSE_ERROR, "the message is not JSON"));
        };
        let (id, method) = (&message["id"], message["method"].as_str());
        match method {
            None if !message["result"].is_null() || !message["error"].is_null() => None,
            None => Some(failure(id, INVALID_REQUEST, "the message has no method")),
            Some(_) if id.is_null() => None,
            Some("initialize") => Some(success(id, initialized(&message["params"]))),
            Some("ping") => Some(success(id, json!({}))),
            Some("tools/list") => Some(success(id, json!({ "tools": tools() }))),
            Some("tools/call") => Some(self.call(id, &message["params"]).await),
            Some(other) => Some(failure(id, NO_METHOD, &format!("there is no method `{other}`"))),
        }
    }

    async fn call(&self, id: &Value, params: &Value) -> Value {
        let name = params["name"].as_str().unwrap_or_default();
        let Some(tool) = api::tools().into_iter().find(|tool| tool.name == name) else {
            return failure(id, INVALID_PARAMS, &format!("there is no tool `{name}`"));
        };
        let arguments = params["arguments"].as_object().cloned().unwrap_or_default();
        let request = match request(&tool, arguments) {
            Ok(request) => request,
            Err(why) => return success(id, text(&why, true)),
        };
        let (status, answer) = self.send(request).await;
        success(id, text(&shortened(answer), !status.is_success()))
    }

    async fn send(&self, mut request: Request) -> (StatusCode, String) {
        request.extensions_mut().insert(Arc::clone(&self.identity));
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status();
        let bytes = to_bytes(response.into_body(), READ_BYTES_MAX).await.unwrap_or_default();
        (status, String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn initialized(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "interlock", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn tools() -> Vec<Value> {
    let tool = |tool: Tool| {
        let hints = json!({ "readOnlyHint": tool.method == Method::GET, "openWorldHint": false });
        json!({ "name": tool.name, "description": tool.summary, "inputSchema": tool.schema, "annotations": hints })
    };
    api::tools().into_iter().map(tool).collect()
}

/// Makes the request of a tool: arguments go into the path, the query or the body.
fn request(tool: &Tool, mut arguments: Map<String, Value>) -> Result<Request, String> {
    let mut path = String::new();
    for part in tool.path.split('/').filter(|part| !part.is_empty()) {
        path.push('/');
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => {
                match arguments.remove(name).as_ref().and_then(Value::as_str).filter(|value| !value.is_empty()) {
                    Some(value) => path.push_str(&encoded(value)),
                    None => return Err(format!("the argument `{name}` is missing")),
                }
            }
            None => path.push_str(part),
        }
    }
    let body = if tool.method == Method::GET {
        let pairs: Vec<String> =
            arguments.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(&plain(value)))).collect();
        if !pairs.is_empty() {
            path.push('?');
            path.push_str(&pairs.join("&"));
        }
        Body::empty()
    } else {
        Body::from(Value::Object(arguments).to_string())
    };
    let request = Request::builder().method(&tool.method).uri(path).header(header::CONTENT_TYPE, "application/json");
    request.body(body).map_err(|error| error.to_string())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Encodes a text for a URL.
fn encoded(text: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(letter).collect()
}

fn shortened(mut text: String) -> String {
    if text.len() > ANSWER_BYTES_MAX {
        let end = (0..=ANSWER_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let rest = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n[{rest} more bytes; ask for less with `limit`, or for one part]"));
    }
    text
}

fn text(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

fn success(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_into_the_path_the_query_or_the_body() {
        let tool = |name: &str| api::tools().into_iter().find(|tool| tool.name == name).unwrap();
        let arguments = |json: Value| json.as_object().cloned().unwrap();
        let asked = request(&tool("trace_run"), arguments(json!({ "run": "a/b?", "limit": 5 }))).unwrap();
        assert_eq!(asked.uri().to_string(), "/api/v1/runs/a%2Fb%3F/trace?limit=5");
        let asked = request(&tool("send_event"), arguments(json!({ "run": "r", "event": "go" }))).unwrap();
        assert_eq!((asked.method(), asked.uri().to_string().as_str()), (&Method::POST, "/api/v1/runs/r/events"));
        assert!(request(&tool("show_run"), Map::new()).is_err());
    }

    #[test]
    fn a_long_answer_is_cut_at_a_character() {
        let text = shortened("ä".repeat(ANSWER_BYTES_MAX));
        assert!(text.len() < ANSWER_BYTES_MAX + 200 && text.contains("more bytes"));
    }
}
