//! One request: checks its token, path and budget, puts the key in, forwards it and returns the reply as it arrives.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http_body_util::{BodyExt as _, Full, Limited, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    credential::has_token,
    relay::Shared,
    reply::{IDLE_MAX, Meter, Reply},
    usage::Reader,
};

/// The longest request.
const REQUEST_BYTES_MAX: usize = 64 * 1_024 * 1_024;

/// The longest time for connecting to the origin.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// Headers of a connection, and headers that are for other parties than the origin and the agent.
const NOT_FORWARDED: [&str; 13] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "cookie",
    "set-cookie",
    "alt-svc",
];

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, String>>;

/// A request that is not forwarded, or not answered.
struct Refusal {
    status: StatusCode,
    kind: &'static str,
    why: String,
    is_forwarded: bool,
}

/// Answers one request.
pub(crate) async fn answer(request: Request<Incoming>, shared: &Shared) -> Result<Answer, Infallible> {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let (answer, is_refused) = match forward(request, shared).await {
        Ok(answer) => (answer, false),
        Err(refusal) => {
            let is_refused = !refusal.is_forwarded;
            (refusal.answer(), is_refused)
        }
    };
    shared.tally.answered(&method, &path, answer.status().as_u16(), is_refused);
    Ok(answer)
}

async fn forward(request: Request<Incoming>, shared: &Shared) -> Result<Answer, Refusal> {
    let target = check(&request, shared)?;
    // Counting tokens costs none: `/count_tokens` at Anthropic's server, `:countTokens` at Google's.
    let is_count = ["/count_tokens", ":countTokens"].iter().any(|end| target.path().ends_with(end));
    let is_metered = request.method() == Method::POST && !is_count;
    let sent_bytes = Arc::new(AtomicU64::new(0));
    let request = prepared(request, target, shared, &sent_bytes);
    let failed = |why: String| Refusal { is_forwarded: true, ..refusal(StatusCode::BAD_GATEWAY, "relay_error", why) };
    let connection = timeout(CONNECT_TIME, shared.client.connect(&shared.origin.address)).await;
    let connection = connection
        .map_err(|_| failed(format!("{} did not accept a connection in time", shared.origin.url())))?
        .map_err(|error| failed(error.to_string()))?;
    let response = timeout(IDLE_MAX, connection.stream(request)).await;
    let response = response
        .map_err(|_| failed(format!("{} did not answer in time", shared.origin.url())))?
        .map_err(|error| failed(error.to_string()))?;
    if response.header("content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(failed("the server compressed its reply, so its tokens cannot be counted".to_owned()));
    }
    let is_good = (200..300).contains(&response.status);
    let meter = (is_metered && is_good).then(|| Meter {
        reader: Reader::new(response.header("content-type").unwrap_or_default()),
        sent_bytes,
        tally: Arc::clone(&shared.tally),
    });
    let mut answer = Response::new(());
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    *answer.headers_mut() = reply_headers(&response);
    Ok(answer.map(|()| Reply::new(response, meter).boxed_unsync()))
}

/// Decides on a request and returns its target at the origin.
fn check(request: &Request<Incoming>, shared: &Shared) -> Result<Uri, Refusal> {
    if !has_token(request.headers(), &shared.token) {
        let why = "the relay accepts only the token of this attempt";
        return Err(refusal(StatusCode::UNAUTHORIZED, "authentication_error", why));
    }
    let target = shared.origin.target(request.uri()).ok_or_else(|| {
        let why =
            format!("the relay does not forward this path; list it under `relay.paths`: {}", request.uri().path());
        refusal(StatusCode::NOT_FOUND, "not_found_error", why)
    })?;
    if ![Method::GET, Method::HEAD, Method::POST].contains(request.method()) {
        let why = "the relay forwards GET, HEAD and POST";
        return Err(refusal(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", why));
    }
    match shared.tally.has_budget() {
        true => Ok(target),
        false => {
            let why = format!("the token budget of the run is spent ({} tokens in this turn)", shared.tally.tokens());
            Err(refusal(StatusCode::FORBIDDEN, "budget_spent", why))
        }
    }
}

/// Returns the request as the origin gets it.
fn prepared(
    request: Request<Incoming>,
    target: Uri,
    shared: &Shared,
    sent_bytes: &Arc<AtomicU64>,
) -> Request<interlock_http::Body> {
    let (mut head, body) = request.into_parts();
    head.uri = target;
    for name in connection_headers(&head.headers) {
        head.headers.remove(name);
    }
    NOT_FORWARDED.iter().for_each(|name| drop(head.headers.remove(*name)));
    // Tokens are read from the reply as it passes.
    head.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    shared.credential.replace(&mut head.headers);
    let counter = Arc::clone(sent_bytes);
    let body = Limited::new(body, REQUEST_BYTES_MAX).map_frame(move |frame| {
        counter.fetch_add(frame.data_ref().map_or(0, |data| data.len() as u64), Relaxed);
        frame
    });
    Request::from_parts(head, body.boxed_unsync())
}

/// Returns the headers that `Connection` names as belonging to the connection.
fn connection_headers(headers: &HeaderMap) -> Vec<HeaderName> {
    let lists = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}

fn reply_headers(response: &interlock_http::Response) -> HeaderMap {
    let forwarded = response.headers.iter().filter(|(name, _)| !NOT_FORWARDED.contains(&name.as_str()));
    let parsed = forwarded.filter_map(|(name, value)| Some((name.parse().ok()?, HeaderValue::from_str(value).ok()?)));
    parsed.collect()
}

fn refusal(status: StatusCode, kind: &'static str, why: impl Into<String>) -> Refusal {
    Refusal { status, kind, why: why.into(), is_forwarded: false }
}

impl Refusal {
    /// Returns an error in a form that clients of all providers read.
    fn answer(self) -> Answer {
        let error = json!({ "type": self.kind, "code": self.kind, "message": self.why });
        let body = json!({ "type": "error", "error": error }).to_string();
        let body = Full::new(Bytes::from(body)).map_err(|never| match never {});
        let mut answer = Response::new(body.boxed_unsync());
        *answer.status_mut() = self.status;
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    }
}
