//! Exports every model request as an OpenTelemetry span over OTLP/HTTP JSON. Nothing is sent unless
//! `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set.
//!
//! The attribute names are those of the GenAI conventions; they are constants here because the conventions still
//! change. A span is a few fields of JSON, so no SDK is used: the exporter is one request over the same HTTP client as
//! the models.

use std::{collections::BTreeMap, time::Duration};

use interlock_http::{Address, Client, Method, Request, header};
use serde_json::{Value, json};

use crate::Try;

/// The names of the span attributes.
pub mod name {
    /// The operation, always `chat`.
    pub const OPERATION: &str = "gen_ai.operation.name";
    /// The provider of the model.
    pub const PROVIDER: &str = "gen_ai.provider.name";
    /// The model that was requested.
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    /// The output token limit of the request.
    pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
    /// The model that answered.
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    /// The server's id of the answer.
    pub const RESPONSE_ID: &str = "gen_ai.response.id";
    /// The reasons why the model stopped.
    pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
    /// The number of input tokens.
    pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    /// The number of output tokens.
    pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    /// The requested output type, always `json`.
    pub const OUTPUT_TYPE: &str = "gen_ai.output.type";
    /// The server's host name.
    pub const SERVER_ADDRESS: &str = "server.address";
    /// The server's port number.
    pub const SERVER_PORT: &str = "server.port";
    /// The failure of the request.
    pub const ERROR: &str = "error.type";
    /// The name of the run.
    pub const RUN: &str = "interlock.run";
    /// The name of the activity.
    pub const ACTIVITY: &str = "interlock.activity";
    /// The judge's name in the settings.
    pub const JUDGE: &str = "interlock.judge";
    /// The mechanism that made the server answer in JSON.
    pub const MEANS: &str = "interlock.means";
    /// The cost of the request.
    pub const COST: &str = "interlock.cost";
}

/// The time limit of an export, so that a slow collector delays no run.
const SEND_WAIT: Duration = Duration::from_secs(2);

/// Exports spans to one collector.
#[derive(Clone, Debug)]
pub struct Telemetry {
    url: String,
    headers: BTreeMap<String, String>,
    client: Client,
}

/// The origin of spans.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The name of the run.
    pub run: &'a str,
    /// The name of the activity.
    pub activity: &'a str,
}

impl Telemetry {
    /// Reads the configuration from the environment; `None` if no endpoint is set.
    pub fn from_env(client: &Client) -> Option<Self> {
        let said = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let url = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| {
            said("OTEL_EXPORTER_OTLP_ENDPOINT").map(|url| format!("{}/v1/traces", url.trim_end_matches('/')))
        })?;
        Some(Self::new(url, &said("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default(), client))
    }

    /// Exports to this URL, with headers in the form `name=value,name=value`.
    pub fn new(url: String, headers: &str, client: &Client) -> Self {
        let headers = headers.split(',').filter_map(|pair| pair.split_once('='));
        let headers = headers.map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned())).collect();
        Telemetry { url, headers, client: client.clone() }
    }

    /// Sends one span per request, in one message. Callers may ignore an error, because a run must not depend on its
    /// telemetry.
    pub async fn send(&self, origin: Origin<'_>, tries: &[Try]) -> Result<(), String> {
        if tries.is_empty() {
            return Ok(());
        }
        let (address, path) = Address::parse(&self.url)?;
        let mut request = Request::new(payload(origin, tries)?.to_string().into_bytes());
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, path);
        request.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            let name = header::HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
            let value = header::HeaderValue::from_str(value).map_err(|error| error.to_string())?;
            request.headers_mut().insert(name, value);
        }
        let work = async {
            let connection = self.client.connect(&address).await.map_err(|error| error.to_string())?;
            connection.send(request).await.map_err(|error| error.to_string())
        };
        let response = tokio::time::timeout(SEND_WAIT, work).await.map_err(|_| "timed out".to_owned())??;
        match response.status {
            200..300 => Ok(()),
            status => Err(format!("status {status}")),
        }
    }
}

fn payload(origin: Origin<'_>, tries: &[Try]) -> Result<Value, String> {
    let trace = id(16)?;
    let spans: Result<Vec<Value>, String> = tries.iter().map(|tried| span(origin, tried, &trace)).collect();
    let service = json!({ "attributes": [text("service.name", "interlock"), text("service.version", env!("CARGO_PKG_VERSION"))] });
    let scope = json!({ "name": "interlock-judge", "version": env!("CARGO_PKG_VERSION") });
    Ok(json!({ "resourceSpans": [{ "resource": service, "scopeSpans": [{ "scope": scope, "spans": spans? }] }] }))
}

fn id(bytes: usize) -> Result<String, String> {
    let mut chance = vec![0; bytes];
    getrandom::fill(&mut chance).map_err(|error| error.to_string())?;
    Ok(chance.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn span(origin: Origin<'_>, tried: &Try, trace: &str) -> Result<Value, String> {
    let nanos = |ms: i64| (i128::from(ms) * 1_000_000).to_string();
    let is_bad = tried.fault.is_some();
    Ok(json!({
        "traceId": trace,
        "spanId": id(8)?,
        "name": format!("chat {}", tried.model),
        // Span kind 3 is a client call.
        "kind": 3,
        "startTimeUnixNano": nanos(tried.begun_ms),
        "endTimeUnixNano": nanos(tried.begun_ms + tried.took_ms),
        "attributes": attributes(origin, tried),
        "status": if is_bad { json!({ "code": 2, "message": tried.fault }) } else { json!({ "code": 0 }) },
    }))
}

fn attributes(origin: Origin<'_>, tried: &Try) -> Vec<Value> {
    let mut all = vec![
        text(name::OPERATION, "chat"),
        text(name::PROVIDER, &tried.provider),
        text(name::REQUEST_MODEL, &tried.model),
        whole(name::REQUEST_MAX_TOKENS, tried.reply_tokens_max.into()),
        text(name::OUTPUT_TYPE, "json"),
        whole(name::INPUT_TOKENS, tried.usage.input_tokens),
        whole(name::OUTPUT_TOKENS, tried.usage.output_tokens),
        text(name::RUN, origin.run),
        text(name::ACTIVITY, origin.activity),
        text(name::JUDGE, &tried.judge),
        text(name::MEANS, serde_json::to_value(tried.means).ok().as_ref().and_then(Value::as_str).unwrap_or_default()),
        json!({ "key": name::COST, "value": { "doubleValue": tried.cost } }),
    ];
    all.extend(tried.answered_by.as_deref().map(|model| text(name::RESPONSE_MODEL, model)));
    all.extend(tried.id.as_deref().map(|id| text(name::RESPONSE_ID, id)));
    all.extend(tried.fault.as_deref().map(|fault| text(name::ERROR, fault)));
    if let Some(finish) = &tried.finish {
        all.push(json!({ "key": name::FINISH_REASONS, "value": { "arrayValue": { "values": [{ "stringValue": finish }] } } }));
    }
    if let Ok((address, _)) = Address::parse(&tried.server) {
        all.extend([text(name::SERVER_ADDRESS, &address.host), whole(name::SERVER_PORT, address.port.into())]);
    }
    all
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// OTLP's JSON encodes whole numbers as strings.
fn whole(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
