//! One request: checks its token, path and budget, puts the key in, forwards it and returns the reply as it arrives.

use std::{convert::Infallible, time::Duration};

use http_body_util::{BodyExt as _, Empty, Full, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use tokio::time::timeout;

use crate::{
    cost::Cost,
    credential::has_token,
    endpoint::Form,
    origin::Foreign,
    refusal::{Refusal, refusal},
    relay::Shared,
    reply::{IDLE_MAX, Meter, Reply},
    tally::{Need, NoRoom, Reservation},
};

/// The longest time for connecting to the origin.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// Headers of a connection, headers that are for other parties than the origin and the agent, and headers that change
/// what a request means or which part of a reply is sent.
const NOT_FORWARDED: [&str; 21] = [
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
    "content-length",
    "expect",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
    "x-goog-fieldmask",
];

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, String>>;

/// A request that may be forwarded.
struct Checked {
    target: Uri,
    form: Form,
}

/// Answers one request.
pub(crate) async fn answer(request: Request<Incoming>, shared: &Shared) -> Result<Answer, Infallible> {
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let (answer, is_refused) = match check(&request, shared) {
        Err(refusal) => (refusal.answer(Form::of(request.method(), &path).dialect()), true),
        Ok(checked) => {
            let dialect = checked.form.dialect();
            match forward(request, checked, shared).await {
                Ok(answer) => (answer, false),
                Err(refusal) => {
                    let is_refused = !refusal.is_forwarded;
                    (refusal.answer(dialect), is_refused)
                }
            }
        }
    };
    shared.tally.answered(&method, &path, answer.status().as_u16(), is_refused);
    Ok(answer)
}

/// Decides on a request by its head alone.
fn check(request: &Request<Incoming>, shared: &Shared) -> Result<Checked, Refusal> {
    if !has_token(request.headers(), &shared.token) {
        let why = "the relay accepts only the token of this attempt";
        return Err(refusal(StatusCode::UNAUTHORIZED, "authentication_error", why));
    }
    let (target, form) = shared.origin.target(request.method(), request.uri()).map_err(|foreign| match foreign {
        Foreign::Path => {
            let path = request.uri().path();
            let why = format!("the relay does not forward this path; list it under `relay.paths`: {path}");
            refusal(StatusCode::NOT_FOUND, "not_found_error", why)
        }
        Foreign::Method => {
            let why = format!("the relay does not forward {} for this path", request.method());
            refusal(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", why)
        }
        Foreign::Parameter(name) => {
            let why = format!("the relay does not forward the parameter `{name}`");
            refusal(StatusCode::BAD_REQUEST, "invalid_request_error", why)
        }
    })?;
    let coding = request.headers().get(header::CONTENT_ENCODING);
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let why = "the relay reads what a request can cost, so it forwards no compressed body";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", why));
    }
    match shared.tally.has_budget() {
        true => Ok(Checked { target, form }),
        false => Err(spent(shared)),
    }
}

async fn forward(request: Request<Incoming>, checked: Checked, shared: &Shared) -> Result<Answer, Refusal> {
    let Checked { target, form } = checked;
    let (mut head, body) = request.into_parts();
    let has_body = head.method == hyper::Method::POST;
    let held = if has_body { Some(shared.bodies.read(body).await?) } else { None };
    let (body, reservation) = match &held {
        Some(held) if form.is_metered() => {
            let (body, reservation) = reserve(form, held.bytes(), shared).await?;
            (Bytes::from(body), Some(reservation))
        }
        Some(held) => (Bytes::copy_from_slice(held.bytes()), None),
        None => (Bytes::new(), None),
    };
    head.uri = target;
    prepare(&mut head.headers, shared);
    let never = |never: Infallible| match never {};
    let body = if has_body {
        Full::new(body).map_err(never).boxed_unsync()
    } else {
        Empty::new().map_err(never).boxed_unsync()
    };
    let answer = exchange(Request::from_parts(head, body), reservation, shared).await;
    drop(held);
    answer
}

/// Sets aside what a request can cost. Returns the body that keeps to it.
async fn reserve(form: Form, body: &[u8], shared: &Shared) -> Result<(Vec<u8>, Reservation), Refusal> {
    let cost = Cost::read(form, body).map_err(|why| refusal(StatusCode::BAD_REQUEST, "invalid_request_error", why))?;
    let output = cost.output();
    let output_min = if cost.can_be_lowered() { output.min(cost.replies) } else { output };
    let need = Need { prompt: cost.prompt, output, output_min };
    match shared.tally.reserve(need).await {
        Ok(reservation) => {
            let limit = if shared.tally.is_limited() { reservation.output } else { output };
            Ok((cost.limited(limit), reservation))
        }
        Err(NoRoom::Spent) => Err(spent(shared)),
        Err(NoRoom::Busy) => {
            let why = "other requests hold the rest of the token budget; try again when they have ended";
            Err(refusal(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", why))
        }
    }
}

/// Sends a request to the origin and returns the reply.
async fn exchange(
    request: Request<interlock_http::Body>,
    mut reservation: Option<Reservation>,
    shared: &Shared,
) -> Result<Answer, Refusal> {
    let failed = |why: String| Refusal { is_forwarded: true, ..refusal(StatusCode::BAD_GATEWAY, "relay_error", why) };
    let connection = timeout(CONNECT_TIME, shared.client.connect(&shared.origin.address)).await;
    let connection = connection
        .map_err(|_| failed(format!("{} did not accept a connection in time", shared.origin.url())))?
        .map_err(|error| failed(error.to_string()))?;
    reservation.iter_mut().for_each(Reservation::sent);
    let response = timeout(IDLE_MAX, connection.stream(request)).await;
    let response = response
        .map_err(|_| failed(format!("{} did not answer in time", shared.origin.url())))?
        .map_err(|error| failed(error.to_string()));
    let is_good = response.as_ref().is_ok_and(|response| (200..300).contains(&response.status));
    if !is_good && let Some(reservation) = reservation.take() {
        reservation.release();
    }
    let response = response?;
    if response.header("content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(failed("the server compressed its reply, so its tokens cannot be counted".to_owned()));
    }
    let meter = reservation.map(|reservation| Meter::new(&response, reservation));
    let mut answer = Response::new(());
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    *answer.headers_mut() = reply_headers(&response);
    Ok(answer.map(|()| Reply::new(response, meter).boxed_unsync()))
}

fn spent(shared: &Shared) -> Refusal {
    let why = format!("the token budget of the run is spent ({} tokens in this turn)", shared.tally.tokens());
    refusal(StatusCode::FORBIDDEN, "budget_spent", why)
}

/// Changes the headers to those that the origin gets.
fn prepare(headers: &mut HeaderMap, shared: &Shared) {
    for name in connection_headers(headers) {
        headers.remove(name);
    }
    NOT_FORWARDED.iter().for_each(|name| drop(headers.remove(*name)));
    // Tokens are read from the reply as it passes.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    shared.credential.replace(headers);
}

/// Returns the headers that `Connection` names as belonging to the connection.
fn connection_headers(headers: &HeaderMap) -> Vec<HeaderName> {
    let lists = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}

fn reply_headers(response: &interlock_http::Response) -> HeaderMap {
    // The length of a reply stands, because the reply passes unchanged.
    let is_forwarded = |name: &str| name == "content-length" || !NOT_FORWARDED.contains(&name);
    let forwarded = response.headers.iter().filter(|(name, _)| is_forwarded(name));
    let parsed = forwarded.filter_map(|(name, value)| Some((name.parse().ok()?, HeaderValue::from_str(value).ok()?)));
    parsed.collect()
}
