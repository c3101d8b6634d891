//! The HTTP API under `/api/v1`: one table of endpoints, from which both the router and the OpenAPI document are made.

mod act;
mod diff;
mod events;
mod evidence;
mod history;
mod inbox;
mod machines;
mod openapi;
mod rows;
mod runs;
mod session;
mod setup;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, FromRequest, Request},
    http::Method,
    middleware::from_fn,
    routing::{MethodRouter, get, post},
};
use interlock_chart::model::Raiser;
use interlock_journal::By;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    Identity, Role,
    app::State,
    guard,
    problem::{Problem, Result},
};

/// The path that all endpoints begin with.
pub(crate) const BASE: &str = "/api/v1";

/// The sender of a request, which the guard has found.
pub(crate) type Sender = axum::Extension<Arc<Identity>>;

/// An endpoint.
struct Endpoint {
    method: &'static str,
    path: &'static str,
    /// The role that the sender must have; `None` if anyone may call it.
    role: Option<Role>,
    summary: &'static str,
    /// Query parameters: name, JSON Schema type, meaning.
    query: &'static [(&'static str, &'static str, &'static str)],
    /// The JSON Schema of the body; null if the endpoint takes none.
    body: Value,
    handler: MethodRouter<State>,
}

impl Endpoint {
    fn get(path: &'static str, summary: &'static str, handler: MethodRouter<State>) -> Self {
        let (method, role) = ("get", Some(Role::Viewer));
        Endpoint { method, path, role, summary, query: &[], body: Value::Null, handler }
    }

    fn post(path: &'static str, summary: &'static str, body: Value, handler: MethodRouter<State>) -> Self {
        let (method, role) = ("post", Some(Role::Operator));
        Endpoint { method, path, role, summary, query: &[], body, handler }
    }

    fn query(self, query: &'static [(&'static str, &'static str, &'static str)]) -> Self {
        Endpoint { query, ..self }
    }

    fn role(self, role: Option<Role>) -> Self {
        Endpoint { role, ..self }
    }
}

/// The parameter of pictures that leaves out the insides of states.
const COLLAPSE: (&str, &str, &str) =
    ("collapse", "string", "Names of composite states to draw as plain boxes, separated by commas");

/// Returns all endpoints.
fn endpoints() -> Vec<Endpoint> {
    let all = [runs_endpoints(), acting_endpoints(), other_endpoints()];
    all.into_iter().flatten().collect()
}

fn runs_endpoints() -> Vec<Endpoint> {
    const PAGE: &[(&str, &str, &str)] = &[
        ("machine", "string", "Only runs of this machine"),
        (
            "phase",
            "string",
            "Only runs in these phases, separated by commas: active, waiting, paused, succeeded, incomplete, failed, aborted",
        ),
        ("prefix", "string", "Only runs whose name begins with this text"),
        ("before", "string", "Only runs created before this one; `next` of the page before"),
        ("limit", "integer", "The most runs to return, 1 to 500; 50 if it is missing"),
        ("spent", "boolean", "Also the tokens and the cost of each run and of its child runs, in lists of at most 100"),
    ];
    const INBOX: &[(&str, &str, &str)] = &[
        ("machine", "string", "Only runs of this machine"),
        ("prefix", "string", "Only runs whose name begins with this text"),
        ("before", "string", "Only runs created before this one; `next` of the page before"),
        ("limit", "integer", "The most runs to look at, 1 to 500; 50 if it is missing"),
        ("count", "boolean", "Only the number of items"),
    ];
    const TRACE: &[(&str, &str, &str)] = &[
        ("from", "integer", "The first record; a negative number counts from the end"),
        ("limit", "integer", "The most records to return, 1 to 1000; 200 if it is missing"),
    ];
    const DIFF: &[(&str, &str, &str)] = &[
        ("path", "string", "Only the patch of this file"),
        ("text", "boolean", "False for the list alone, without the patches of the files"),
    ];
    const PHASES: &[(&str, &str, &str)] = &[
        ("machine", "string", "Only runs of this machine"),
        ("prefix", "string", "Only runs whose name begins with this text"),
    ];
    vec![
        Endpoint::get("/runs", "Lists runs, newest first", get(runs::list)).query(PAGE),
        Endpoint::get("/phases", "Counts all runs of the store by phase", get(runs::phases)).query(PHASES),
        Endpoint::get(
            "/inbox",
            "Lists the runs that wait for a person, with their questions and forms",
            get(inbox::list),
        )
        .query(INBOX),
        Endpoint::get(
            "/runs/{run}",
            "Shows a run: state, data, deadline, and the events that it accepts",
            get(runs::show),
        ),
        Endpoint::get(
            "/runs/{run}/trace",
            "Lists the records of a run with the transitions that they caused",
            get(history::trace),
        )
        .query(TRACE),
        Endpoint::get(
            "/runs/{run}/totals",
            "Sums up time, activities, tokens and cost per state, and the cost of child runs",
            get(history::totals),
        ),
        Endpoint::get(
            "/runs/{run}/diff",
            "Lists all files that the recorded writes of a run have changed, with true counts of lines, also while it is at work; `path` shows the patch of one file",
            get(diff::show),
        )
        .query(DIFF),
        Endpoint::get(
            "/runs/{run}/diff/patch",
            "Sends the whole patch of a run as a file",
            get(diff::download),
        ),
        Endpoint::get("/runs/{run}/state/{record}", "Shows a run as it was after a record", get(history::state)),
        Endpoint::get(
            "/runs/{run}/picture",
            "Draws the machine of a run as SVG; the states that are active are in `show`",
            get(machines::picture_of_run),
        )
        .query(&[COLLAPSE]),
        Endpoint::get("/runs/{run}/evidence", "Lists the evidence files of a run", get(evidence::list)),
        Endpoint::get(
            "/runs/{run}/evidence/{hash}",
            "Sends an evidence file; ranges of bytes are possible",
            get(evidence::send),
        ),
        Endpoint::get("/runs/{run}/report", "Sends the report of a run as an HTML file", get(evidence::report)),
        Endpoint::get(
            "/runs/{run}/report/sections",
            "Shows the first sentence and the sections of the report of a run, such as the cells of its notebook",
            get(evidence::report_sections),
        ),
        Endpoint::get("/runs/{run}/output", "Shows the end of the output of running activities", get(evidence::output)),
        Endpoint::get(
            "/events",
            "Streams a notice for each new record (server-sent events); `Last-Event-ID` continues after a number",
            get(events::stream),
        )
        .query(&[
            ("run", "string", "Only notices of this run"),
            ("since", "integer", "Continue after this number; `Last-Event-ID` has priority"),
        ]),
    ]
}

fn acting_endpoints() -> Vec<Endpoint> {
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties });
    let text = json!({ "type": "string" });
    vec![
        Endpoint::post(
            "/runs",
            "Starts a run",
            object(
                &["machine", "folder"],
                json!({
                    "machine": text, "folder": text, "input": { "type": "object" }, "name": text, "agent": text,
                }),
            ),
            post(act::start),
        )
        .role(Some(Role::Agent)),
        Endpoint::post(
            "/runs/{run}/events",
            "Sends an event; sending it again with the same `id` has no effect. An event in `offers` of an ended run continues it as a new run, which the answer names",
            object(
                &["event"],
                json!({
                    "event": text, "data": { "type": "object" }, "id": text,
                }),
            ),
            post(act::send),
        )
        .role(Some(Role::Agent)),
        Endpoint::post(
            "/runs/{run}/grant",
            "Grants permissions that policy asks about, once or with a limit",
            object(
                &["scopes"],
                json!({
                    "scopes": { "type": "array", "items": text, "minItems": 1 }, "for_ms": { "type": "integer", "minimum": 1 }, "uses": { "type": "integer", "minimum": 1 },
                }),
            ),
            post(act::grant),
        ),
        Endpoint::post("/runs/{run}/pause", "Pauses a run", Value::Null, post(act::pause)),
        Endpoint::post(
            "/runs/{run}/resume",
            "Continues a run that is paused or that no process runs",
            Value::Null,
            post(act::resume),
        ),
        Endpoint::post("/runs/{run}/abort", "Sends the event that aborts a run", Value::Null, post(act::abort)),
        Endpoint::post(
            "/runs/{run}/fork",
            "Makes a new run from the first records of a run",
            object(
                &["at"],
                json!({
                    "at": { "type": "integer", "minimum": 1 }, "name": text,
                }),
            ),
            post(act::fork),
        ),
        Endpoint::post(
            "/runs/{run}/undo",
            "Undoes file changes of a run, or lists what an undo would change",
            object(
                &["dry_run"],
                json!({
                    "dry_run": { "type": "boolean" }, "skip_conflicts": { "type": "boolean" },
                    "to": { "type": "integer" }, "write": { "type": "integer" }, "paths": { "type": "array", "items": text },
                }),
            ),
            post(act::undo),
        ),
    ]
}

fn other_endpoints() -> Vec<Endpoint> {
    const FOLDER: &[(&str, &str, &str)] =
        &[("folder", "string", "The project directory; the first of `folders` if it is missing")];
    const PICTURE: &[(&str, &str, &str)] = &[FOLDER[0], COLLAPSE];
    let login = json!({
        "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
        "properties": { "code": { "type": "string" }, "token": { "type": "string" } },
    });
    vec![
        Endpoint::get("/machines", "Lists machines", get(machines::list)).query(FOLDER),
        Endpoint::get(
            "/machines/{machine}",
            "Describes a machine: states, events, transitions, input schema, source",
            get(machines::describe),
        )
        .query(FOLDER),
        Endpoint::get("/machines/{machine}/picture", "Draws a machine as SVG", get(machines::picture)).query(PICTURE),
        Endpoint::get("/machines/{machine}/check", "Proves a machine", get(machines::check)).query(FOLDER),
        Endpoint::get("/folders", "Lists the directories in which runs may start", get(setup::folders)),
        Endpoint::get("/agents", "Lists the configured coding agents", get(setup::agents)).query(FOLDER),
        Endpoint::get("/judges", "Lists the configured judges", get(setup::judges)).query(FOLDER),
        Endpoint::get("/resources", "Lists shared resources, such as boards", get(setup::resources)),
        Endpoint::get("/session", "Shows the name and role of the sender", get(session::show)),
        Endpoint::post(
            "/session",
            "Exchanges a login code or a token for a session cookie",
            login,
            post(session::log_in),
        )
        .role(None),
        Endpoint::post("/session/end", "Ends the session", Value::Null, post(session::log_out))
            .role(Some(Role::Viewer)),
        Endpoint::get("/openapi.json", "Describes this API", get(openapi::document)),
    ]
}

/// An endpoint that a model can call as a tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) method: Method,
    /// The full path, with placeholders.
    pub(crate) path: String,
    /// The JSON Schema of all arguments.
    pub(crate) schema: Value,
}

/// The endpoints that are tools, by name.
const TOOLS: [(&str, &str, &str); 11] = [
    ("list_machines", "get", "/machines"),
    ("describe_machine", "get", "/machines/{machine}"),
    ("check_machine", "get", "/machines/{machine}/check"),
    ("list_folders", "get", "/folders"),
    ("list_runs", "get", "/runs"),
    ("show_run", "get", "/runs/{run}"),
    ("trace_run", "get", "/runs/{run}/trace"),
    ("diff_run", "get", "/runs/{run}/diff"),
    ("list_evidence", "get", "/runs/{run}/evidence"),
    ("start_run", "post", "/runs"),
    ("send_event", "post", "/runs/{run}/events"),
];

/// Returns the endpoints that are tools.
pub(crate) fn tools() -> Vec<Tool> {
    let all = endpoints();
    let tool = |(name, method, path): &(&'static str, &str, &str)| {
        let endpoint = all.iter().find(|endpoint| endpoint.path == *path && endpoint.method == *method)?;
        let method = if endpoint.method == "get" { Method::GET } else { Method::POST };
        let path = format!("{BASE}{}", endpoint.path);
        Some(Tool { name, summary: endpoint.summary, method, path, schema: arguments(endpoint) })
    };
    TOOLS.iter().filter_map(tool).collect()
}

/// Returns the schema of the arguments of a tool: those of the path, the query and the body together.
fn arguments(endpoint: &Endpoint) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false, "required": [], "properties": {} });
    let mut required = Vec::new();
    for name in endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        schema["properties"][name] = json!({ "type": "string" });
        required.push(json!(name));
    }
    for (name, kind, meaning) in endpoint.query {
        schema["properties"][name] = json!({ "type": kind, "description": meaning });
    }
    for (name, property) in endpoint.body["properties"].as_object().into_iter().flatten() {
        schema["properties"][name] = property.clone();
    }
    required.extend(endpoint.body["required"].as_array().cloned().unwrap_or_default());
    schema["required"] = Value::Array(required);
    schema
}

/// Makes the router of the API.
pub(crate) fn router() -> Router<State> {
    let mut router = Router::new();
    for endpoint in endpoints() {
        let handler = match endpoint.role {
            Some(role) => endpoint.handler.layer(from_fn(move |request, next| guard::require(role, request, next))),
            None => endpoint.handler,
        };
        router = router.route(&format!("{BASE}{}", endpoint.path), handler);
    }
    // The guard limits the size of bodies.
    router.layer(DefaultBodyLimit::disable())
}

/// Returns the sender as records name it. A program that works for a model is not a person.
fn by(identity: &Identity) -> By {
    match identity.role {
        Role::Agent => By { kind: Raiser::Run, name: format!("token:{}", identity.name) },
        Role::Viewer | Role::Operator | Role::Admin => By::user(&identity.name),
    }
}

/// The JSON body of a request. Other content and unknown fields are refused with a message.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(value)) => Ok(Body(value)),
            Err(rejection) => Err(Problem::new(rejection.status(), "BAD_INPUT", rejection.body_text())),
        }
    }
}
