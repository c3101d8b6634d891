//! Decides which requests are answered: the right host, no foreign origin, a known token or session, a sufficient role,
//! not too many at a time. Adds the headers that limit a browser.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{ConnectInfo, Request, State as Extracted},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use tokio::sync::OwnedSemaphorePermit;

use crate::{
    Identity, Role,
    access::Proof,
    api::BASE,
    app::{App, State},
    connections::Connection,
    problem::{Problem, Result},
    tls::Peer,
};

/// The size of the largest request body.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The size of the largest body of a sender who is not known: a login.
const LOGIN_BYTES_MAX: usize = 4 * 1024;

/// The bodies that are in memory at once, in bytes. Further requests wait for them.
pub(crate) const ALL_BODY_BYTES_MAX: usize = 32 * BODY_BYTES_MAX;

/// The time in which the body of a request must arrive.
const BODY_TIME: Duration = Duration::from_secs(20);

/// The name of the cookie that holds a session.
pub(crate) const COOKIE: &str = "interlock_session";

/// A page of ours has its scripts and styles in files, talks only to this server, and is shown in no frame.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; manifest-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// The headers of every answer. A handler that sets one of them itself keeps its own.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Checks a request before it is routed, and finds the identity of its sender.
pub(crate) async fn guard(
    Extracted(app): Extracted<State>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut response = match admit(&app, peer, &mut request) {
        Ok(is_known) => match whole(&app, request, is_known).await {
            Ok((request, room)) => {
                let response = next.run(request).await;
                drop(room);
                response
            }
            Err(problem) => problem.into_response(),
        },
        Err(problem) => problem.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Decides on the head of a request. Returns true if its sender is known.
fn admit(app: &App, peer: SocketAddr, request: &mut Request) -> Result<bool> {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !app.listen.hosts().iter().any(|known| known == host) {
        return Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "WRONG_HOST",
            "this server does not answer for that host",
        ));
    }
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    if origin.is_some_and(|origin| !app.listen.origins().iter().any(|known| known == origin)) {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "WRONG_ORIGIN",
            "a page of another site may not use this server",
        ));
    }
    let found = identify(app, headers, request.method(), origin.is_some());
    let known = match found {
        Ok(known) => known,
        Err(problem) => {
            // Guessing must be slow; the caller is known by its address only.
            let is_slow = app.failures.allows(&peer.ip().to_string());
            return Err(if is_slow { problem } else { too_many() });
        }
    };
    let Some((identity, proof)) = known else { return Ok(false) };
    let has_place = request.extensions().get::<Connection>().is_none_or(Connection::is_known);
    if !has_place || !app.requests.allows(&identity.name) {
        return Err(too_many());
    }
    request.extensions_mut().insert(Arc::new(identity));
    request.extensions_mut().insert(proof);
    Ok(true)
}

/// Reads the body of a request before it is handled, so that a slow or endless sender holds nothing but its connection.
/// Of a sender who is not known, only a login is read: every other request is answered by its head.
async fn whole(app: &App, request: Request, is_known: bool) -> Result<(Request, Option<OwnedSemaphorePermit>)> {
    let (head, body) = request.into_parts();
    let is_login = head.method == Method::POST && head.uri.path() == format!("{BASE}/session");
    if !is_known && !is_login {
        return Ok((Request::from_parts(head, Body::empty()), None));
    }
    let most = if is_known { BODY_BYTES_MAX } else { LOGIN_BYTES_MAX };
    let announced = head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let has_body = announced.is_some() || head.headers.contains_key(header::TRANSFER_ENCODING);
    let length = announced.unwrap_or(if has_body { most } else { 0 });
    if length > most {
        return Err(too_large(most));
    }
    let read = async {
        // The semaphore is never closed.
        let room = Arc::clone(&app.bodies).acquire_many_owned(u32::try_from(length).unwrap_or(u32::MAX)).await;
        to_bytes(body, most).await.map(|bytes| (bytes, room.ok()))
    };
    match tokio::time::timeout(BODY_TIME, read).await {
        Ok(Ok((bytes, room))) => Ok((Request::from_parts(head, Body::from(bytes)), room)),
        Ok(Err(_)) => Err(too_large(most)),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", "the body of the request did not arrive")),
    }
}

fn too_large(most: usize) -> Problem {
    let message = format!("the body of the request is larger than {most} bytes, or was cut off");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE", message)
}

fn too_many() -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS", "too many requests; try again in a few seconds")
}

/// Returns the sender of a request: `None` if it carries neither a token nor a session.
fn identify(app: &App, headers: &HeaderMap, method: &Method, has_origin: bool) -> Result<Option<(Identity, Proof)>> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let proof = Proof::token(token);
        return app.access.owner(proof)?.map(|identity| Some((identity, proof))).ok_or_else(|| {
            unauthorised("the token is not known or has expired").hint("make one with `interlock token add NAME`")
        });
    }
    let Some(session) = session(headers) else { return Ok(None) };
    // A browser sends the cookie by itself, so a request that changes something must come from our page.
    let is_safe = method == Method::GET || method == Method::HEAD;
    let is_own = has_origin || headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    if !is_safe && !is_own {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "WRONG_ORIGIN",
            "the request does not come from this server's page",
        ));
    }
    // A session that has ended is no attack: the page shows its login.
    let proof = Proof::session(session);
    Ok(app.access.owner(proof)?.map(|identity| (identity, proof)))
}

fn unauthorised(message: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
}

/// Returns the session of a request.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Refuses a request whose sender lacks a role.
pub(crate) async fn require(role: Role, request: Request, next: Next) -> Response {
    match request.extensions().get::<Arc<Identity>>() {
        Some(identity) if identity.role >= role => next.run(request).await,
        Some(identity) => Problem::new(
            StatusCode::FORBIDDEN,
            "FORBIDDEN",
            format!("this needs the role {}; {} is a {}", role.word(), identity.name, identity.role.word()),
        )
        .into_response(),
        None => unauthorised("log in, or send a token")
            .hint("open the link that `interlock serve` prints, or send `Authorization: Bearer TOKEN`")
            .into_response(),
    }
}
