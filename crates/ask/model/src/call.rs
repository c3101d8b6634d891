//! One exchange with a server, with a timeout for each phase.

use std::{future::Future, time::Duration};

use interlock_http::{Address, Client, Method, Request, Response, header};
use serde_json::Value;

use crate::{
    Ask, Asker, Fault, Means, Reply,
    frames::{Frames, Framing},
    refusal, retry,
    settings::Server,
    wire::{self, Partial, Wire},
};

/// The maximum length of an answer, in bytes.
const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The maximum length of an error body that is read.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// The maximum length of an excerpt that an error message shows.
const SHOWN_CHARS: usize = 200;

/// The maximum length of the end of an answer that is shown while it arrives.
const STREAMED_CHARS_MAX: usize = 16_000;

/// Sends the question once and reads the reply.
pub(crate) async fn call(
    client: &Client,
    server: &Server,
    wire: &dyn Wire,
    ask: &Ask<'_>,
    means: Means,
    asker: &dyn Asker,
) -> Result<Reply, Fault> {
    let listener = Listener { asker, is_shown: means == Means::Calls };
    let work = async {
        let mut response = send(client, server, wire, ask, means).await?;
        match response.status {
            200..300 => read(&mut response, server, wire, &listener).await?.finish(ask, means),
            _ => Err(refused(&mut response, server, asker.now_ms()).await),
        }
    };
    within(server.timeouts.total, "whole answer", work).await?
}

async fn within<T>(time: Duration, what: &'static str, work: impl Future<Output = T>) -> Result<T, Fault> {
    let late = Fault::Timeout { what, after_ms: time.as_secs_f64() * 1000.0 };
    tokio::time::timeout(time, work).await.map_err(|_| late)
}

fn fault(error: interlock_http::Error) -> Fault {
    match error {
        interlock_http::Error::Unreachable { .. } => Fault::Unreachable(error.to_string()),
        interlock_http::Error::Broken(why) => Fault::Stopped(why),
        interlock_http::Error::TooLong(bytes) => Fault::TooLong(bytes),
    }
}

async fn send(
    client: &Client,
    server: &Server,
    wire: &dyn Wire,
    ask: &Ask<'_>,
    means: Means,
) -> Result<Response, Fault> {
    let local = |why: String| Fault::Local(why);
    let url = format!("{}{}", server.base_url, wire.path());
    let (address, path) = Address::parse(&url).map_err(|why| local(format!("the URL {url} {why}")))?;
    let key = server.key.read().map_err(local)?;
    let mut request = Request::new(wire.body(server, ask, means).to_string().into_bytes());
    (*request.method_mut(), *request.uri_mut()) = (Method::POST, path);
    let usual = [("content-type", "application/json".to_owned()), ("accept", "text/event-stream, */*".to_owned())];
    let own = server.headers.iter().map(|(name, value)| (name.as_str(), value.clone()));
    for (name, value) in usual.into_iter().chain(wire.headers(key.as_deref())).chain(own) {
        let named = header::HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string());
        let mut value = header::HeaderValue::from_str(&value)
            .map_err(|_| local(format!("the header {name} has a value that cannot be sent")))?;
        value.set_sensitive(true);
        request.headers_mut().insert(named.map_err(local)?, value);
    }
    let times = server.timeouts;
    let connection = within(times.connect, "connection", client.connect(&address)).await?.map_err(fault)?;
    within(times.first_byte, "beginning of an answer", connection.send(request)).await?.map_err(fault)
}

async fn refused(response: &mut Response, server: &Server, now_ms: i64) -> Fault {
    let retry_after_ms = retry::after_ms(&response.headers, now_ms);
    let status = response.status;
    let body = within(server.timeouts.silence, "error in full", response.rest(ERROR_BYTES_MAX)).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();
    let said = serde_json::from_slice::<Value>(&body).ok().as_ref().and_then(wire::said);
    let words = String::from_utf8_lossy(&body);
    let said = said.unwrap_or_else(|| shown(&words));
    // Some providers have the reason only in a code beside the message.
    match refusal::is_overflow(Some(status), &words) {
        true => Fault::Overflow(format!("status {status}: {said}")),
        false => Fault::Status { status, said, retry_after_ms },
    }
}

fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(SHOWN_CHARS).collect()
}

/// Shows the text of an answer while it arrives.
struct Listener<'a> {
    asker: &'a dyn Asker,
    is_shown: bool,
}

impl Listener<'_> {
    /// Reports the text so far.
    fn hear(&self, text: &str) {
        if self.is_shown && !text.trim().is_empty() {
            let skip = text.chars().count().saturating_sub(STREAMED_CHARS_MAX);
            let end: String = text.chars().skip(skip).collect();
            self.asker.show(&end);
        }
    }
}

async fn read(
    response: &mut Response,
    server: &Server,
    wire: &dyn Wire,
    listener: &Listener<'_>,
) -> Result<Partial, Fault> {
    let media = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let mut partial = Partial::default();
    match media.split(';').next().unwrap_or_default().trim() {
        "text/event-stream" => pieces(response, server, Framing::Events, wire, listener, &mut partial).await?,
        "application/x-ndjson" | "application/jsonl" => {
            pieces(response, server, Framing::Lines, wire, listener, &mut partial).await?;
        }
        "application/json" => {
            let body = within(server.timeouts.total, "whole answer", response.rest(REPLY_BYTES_MAX)).await?;
            let body = body.map_err(fault)?;
            let value = serde_json::from_slice(&body).map_err(|error| {
                Fault::NotUnderstood(format!(
                    "its JSON is malformed ({error}): {}",
                    shown(&String::from_utf8_lossy(&body))
                ))
            })?;
            wire.whole(&value, &mut partial)?;
        }
        other => {
            let body = within(server.timeouts.silence, "page", response.rest(ERROR_BYTES_MAX)).await;
            let body = body.ok().and_then(Result::ok).unwrap_or_default();
            let why = format!("it is of the type `{other}`: {}", shown(&String::from_utf8_lossy(&body)));
            return Err(Fault::NotUnderstood(why));
        }
    }
    Ok(partial)
}

async fn pieces(
    response: &mut Response,
    server: &Server,
    framing: Framing,
    wire: &dyn Wire,
    listener: &Listener<'_>,
    into: &mut Partial,
) -> Result<(), Fault> {
    let (mut frames, mut bytes) = (Frames::new(framing), 0);
    while let Some(piece) = within(server.timeouts.silence, "further piece", response.piece()).await?.map_err(fault)? {
        bytes += piece.len();
        if bytes > REPLY_BYTES_MAX {
            return Err(Fault::TooLong(REPLY_BYTES_MAX));
        }
        let known = into.text.len();
        for piece in frames.take(&piece) {
            take(&piece, wire, into)?;
        }
        if into.text.len() > known {
            listener.hear(&into.text);
        }
    }
    frames.rest().map_or(Ok(()), |last| take(&last, wire, into))
}

fn take(piece: &str, wire: &dyn Wire, into: &mut Partial) -> Result<(), Fault> {
    if piece.trim() == "[DONE]" {
        return Ok(());
    }
    let value = serde_json::from_str(piece)
        .map_err(|error| Fault::NotUnderstood(format!("a piece is malformed ({error}): {}", shown(piece))))?;
    wire.piece(&value, into)
}
