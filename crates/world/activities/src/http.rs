//! `http.request`: one request, one response. Redirects are not followed and nothing is retried: the activity does
//! exactly one exchange, and the machine sees the result in the status.
//!
//! Policy decides about the host before the activity starts.

use std::{collections::BTreeMap, time::Duration};

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, code,
    report::{Account, RunRecord, Worker},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_http::{Address, Client, Error, HeaderMap, Method, Request, header};
use interlock_journal::EvidenceStore;

const KNOWN: [&str; 7] = ["method", "url", "headers", "body", "json", "timeout_s", "ok_status"];

/// The timeout of a request if the machine sets none.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The longest body that the data of the outcome carries; the whole body is evidence.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// The longest body that is read.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Sends an HTTP request to any host. Policy decides about the host before the activity starts.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
    client: Client,
}

impl HttpRequest {
    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = HttpInput::read(&attempt.with)?;
        let mut cancel = attempt.cancel.clone();
        let reply = tokio::select! {
            reply = exchange(&self.client, &order.address, order.request) => reply,
            () = tokio::time::sleep(order.timeout) => {
                let message = format!("there was no complete answer within {} seconds", order.timeout.as_secs_f64());
                Err(Outcome::error(code::TIMEOUT, message))
            }
            () = cancel.cancelled() => Err(Outcome::cancelled("it was stopped")),
        }?;
        let is_ok = match &order.ok_status {
            Some(ok) => ok.contains(&i64::from(reply.status)),
            None => (200..300).contains(&reply.status),
        };
        finish(attempt, reply, if is_ok { SUCCEEDED } else { FAILED }).await
    }
}

const SUCCEEDED: Signal = Signal::new("succeeded", told);
const FAILED: Signal = Signal::new("failed", told);

/// The schema of the data of both signals.
fn told() -> Schema {
    schema::fields([
        ("status", schema::integer()),
        ("headers", schema::map(schema::text())),
        ("body", schema::or_null("string")),
        ("json", schema::any()),
    ])
}

impl Activity for HttpRequest {
    fn name(&self) -> &str {
        "http.request"
    }

    fn summary(&self) -> &str {
        "Sends one HTTP request; the status code decides."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::External
    }

    fn signals(&self) -> &[Signal] {
        &[SUCCEEDED, FAILED]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("method", schema::text()),
            ("url", schema::text()),
            ("headers", schema::map(schema::plain())),
            ("body", schema::text()),
            ("json", schema::any()),
            ("timeout_s", schema::number()),
            ("ok_status", schema::list(schema::whole())),
        ]);
        schema::needing(fields, &["url"])
    }

    fn requests(&self, site: &Site<'_>) -> Requests {
        let Address { host, port, .. } = HttpInput::read(site.with)?.address;
        Ok(vec![interlock_policy::Request::Connect { host, port: Some(port) }])
    }

    fn uses_cores(&self) -> bool {
        false
    }

    fn account(&self, _: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(Account { worker: Worker::Others, ..Account::default() })
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}

/// A complete response, with its body.
struct Reply {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Sends the request and reads the complete response.
async fn exchange(client: &Client, address: &Address, request: Request<Vec<u8>>) -> Result<Reply, Outcome> {
    let wrong = |error: Error| {
        let code = if matches!(error, Error::Unreachable { .. }) { code::UNREACHABLE } else { code::FAILED };
        Outcome::error(code, error.to_string())
    };
    let connection = client.connect(address).await.map_err(wrong)?;
    let mut response = connection.send(request).await.map_err(wrong)?;
    let body = response.rest(BODY_BYTES_MAX).await.map_err(wrong)?;
    Ok(Reply { status: response.status, headers: response.headers, body })
}

/// Returns the host and port of a URL.
pub(crate) fn asked(url: &str) -> Option<(String, u16)> {
    Address::parse(url).ok().map(|(address, _)| (address.host, address.port))
}

/// The parsed input of an attempt.
struct HttpInput {
    address: Address,
    request: Request<Vec<u8>>,
    timeout: Duration,
    ok_status: Option<Vec<i64>>,
}

impl HttpInput {
    fn read(with: &Value) -> Result<Self, BadArgument> {
        let given = Arguments::new(with, &KNOWN)?;
        let url = given.need_text("url")?;
        let (address, path) = Address::parse(url).map_err(|why| BadArgument::field("url", why))?;
        let name = given.text("method")?.unwrap_or("GET");
        let method = Method::from_bytes(name.as_bytes())
            .map_err(|_| BadArgument::field("method", format!("is not the name of a method: `{name}`")))?;
        let mut headers = headers(&given)?;
        let body = body(&given, &mut headers)?;
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, path, headers);
        let timeout = given.seconds("timeout_s")?.unwrap_or(TIMEOUT);
        Ok(HttpInput { address, request, timeout, ok_status: given.numbers("ok_status")? })
    }
}

fn headers(given: &Arguments<'_>) -> Result<HeaderMap, BadArgument> {
    let mut headers = HeaderMap::new();
    for (name, value) in given.pairs("headers")? {
        let wrong = |_| BadArgument::field("headers", format!("has a name or value that cannot be sent: `{name}`"));
        let parsed = header::HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        let value = header::HeaderValue::from_str(&value).map_err(|error| wrong(error.to_string()))?;
        headers.insert(parsed, value);
    }
    Ok(headers)
}

fn body(given: &Arguments<'_>, headers: &mut HeaderMap) -> Result<Vec<u8>, BadArgument> {
    match (given.text("body")?, given.value("json")) {
        (Some(_), Some(_)) => Err(BadArgument::field("json", "cannot be given together with `with.body`")),
        (Some(text), None) => Ok(text.into()),
        (None, Some(json)) => {
            let media = header::HeaderValue::from_static("application/json");
            headers.entry(header::CONTENT_TYPE).or_insert(media);
            Ok(serde_json::Value::from(json).to_string().into_bytes())
        }
        (None, None) => Ok(Vec::new()),
    }
}

async fn finish(attempt: Attempt, reply: Reply, signal: Signal) -> Result<Outcome, Outcome> {
    let data = data(&reply);
    let media = reply.headers.get("content-type").cloned().unwrap_or_else(|| "application/octet-stream".to_owned());
    let store = attempt.evidence.clone();
    let kept = tokio::task::spawn_blocking(move || match reply.body.is_empty() {
        true => Ok(None),
        false => store.put("body", &media, &reply.body).map(Some),
    });
    let wrong = |why: String| Outcome::not_stored(format!("the answer could not be stored: {why}"));
    let kept = kept.await.map_err(|error| wrong(error.to_string()))?.map_err(|error| wrong(error.to_string()))?;
    Ok(signal.outcome(data).with(kept))
}

fn data(reply: &Reply) -> Value {
    let text = std::str::from_utf8(&reply.body).ok().filter(|text| text.len() <= TEXT_BYTES_MAX);
    let is_json = reply.headers.get("content-type").is_some_and(|media| media.contains("json"));
    let json = text.filter(|_| is_json).and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    let headers = reply.headers.iter().map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
    let mut fields = vec![
        ("status", Value::Int(reply.status.into())),
        ("headers", Value::map(headers)),
        ("body", text.map_or(Value::Null, Value::from)),
    ];
    fields.extend(json.map(|json| ("json", Value::from(json))));
    Value::map(fields)
}
