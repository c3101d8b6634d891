//! Serves `/planning` and `/generating` over HTTP/1.1, for other clients of the protocol.
//!
//! Every request needs the token as `Authorization: Bearer …`. With `options.stream` the generator answers with one
//! action per line, and each line is sent as soon as its action is made.

mod lines;

use std::{convert::Infallible, path::PathBuf, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use interlock_activity::Attempt;
use serde_json::{Value as Json, json};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc},
};

use crate::builtin::{BuiltIn, WAITING_MAX};
use lines::Lines;

/// The longest request that is read.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most connections that are served at once.
const CONNECTIONS_MAX: usize = 32;

/// The time in which a client must have sent its request and read the answer.
const CONNECTION_TIME: Duration = Duration::from_secs(600);

/// The parts of the server.
pub struct Service {
    /// Answers the requests.
    pub built_in: BuiltIn,
    /// The attempt that judges are asked in.
    pub attempt: Attempt,
    /// The token that clients must send; `None` if none is required.
    pub token: Option<String>,
    /// The directory in which tables are looked for.
    pub folder: Option<PathBuf>,
}

/// Serves connections until the future is dropped.
pub async fn serve(listener: TcpListener, service: Arc<Service>) -> std::io::Result<Infallible> {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return Err(std::io::Error::other("the server has ended"));
        };
        let (stream, _) = listener.accept().await?;
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, Infallible>(service.answer(request).await) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            // A client that breaks its connection is no error of the server.
            let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
            drop(place);
        });
    }
}

type Answer = Response<Either<Full<Bytes>, Lines>>;

impl Service {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().trim_end_matches('/').to_owned();
        if !matches!(path.as_str(), "/planning" | "/generating") {
            return error(StatusCode::NOT_FOUND, "the endpoints are /planning and /generating");
        }
        if request.method() != Method::POST {
            return error(StatusCode::METHOD_NOT_ALLOWED, "use POST");
        }
        if !self.is_allowed(&request) {
            return error(StatusCode::UNAUTHORIZED, "send the server's token as `Authorization: Bearer TOKEN`");
        }
        let body = Limited::new(request.into_body(), REQUEST_BYTES_MAX).collect().await;
        let Ok(body) = body else { return error(StatusCode::PAYLOAD_TOO_LARGE, "the request could not be read") };
        let request: Json = match serde_json::from_slice(&body.to_bytes()) {
            Ok(request) => request,
            Err(why) => return error(StatusCode::BAD_REQUEST, &format!("the request is not JSON: {why}")),
        };
        if request.pointer("/observation/location/current").is_none() {
            let why = "Missing required 'progress_info' in state. New POMDP protocol requires hierarchical progress information. \
                       Send `observation.location` with `current` and `progress`; docs/notebook.md describes the protocol.";
            return error(StatusCode::BAD_REQUEST, why);
        }
        match path.as_str() {
            "/planning" => self.planning(&request).await,
            _ if request.pointer("/options/stream") == Some(&Json::Bool(true)) => self.streaming(request).await,
            _ => self.generating(&request).await,
        }
    }

    async fn planning(&self, request: &Json) -> Answer {
        match self.built_in.planning(&self.attempt, request).await {
            Ok(reply) => answer(StatusCode::OK, "application/json", reply.value.to_string()),
            Err(outcome) => error(StatusCode::INTERNAL_SERVER_ERROR, &outcome.message()),
        }
    }

    async fn generating(&self, request: &Json) -> Answer {
        let actions = match self.built_in.generating(&self.attempt, request, self.folder.as_deref()).await {
            Ok(actions) => actions.value,
            Err(outcome) => return error(StatusCode::INTERNAL_SERVER_ERROR, &outcome.message()),
        };
        answer(StatusCode::OK, "application/json", json!({ "actions": actions }).to_string())
    }

    /// Answers with one action per line. The answer begins with the first action, so that a failure before it has a
    /// status; a failure after it breaks the connection off, which clients notice.
    async fn streaming(self: Arc<Self>, request: Json) -> Answer {
        let (to, made) = mpsc::channel(WAITING_MAX);
        let work = tokio::spawn(async move {
            let generated = self.built_in.generate(&self.attempt, &request, self.folder.as_deref(), to).await;
            generated.map(drop).map_err(|outcome| outcome.message())
        });
        match Lines::begin(made, work).await {
            Ok(lines) => response(StatusCode::OK, "application/x-ndjson", Either::Right(lines)),
            Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, &why),
        }
    }

    fn is_allowed(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return true };
        let given = request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
        let given = given.and_then(|given| given.strip_prefix(b"Bearer ")).unwrap_or_default();
        is_same(given, token.as_bytes())
    }
}

/// Compares in a time that does not depend on the first difference.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

fn error(status: StatusCode, why: &str) -> Answer {
    answer(status, "application/json", json!({ "error": why }).to_string())
}

fn answer(status: StatusCode, media: &'static str, body: String) -> Answer {
    response(status, media, Either::Left(Full::new(Bytes::from(body))))
}

fn response(status: StatusCode, media: &'static str, body: Either<Full<Bytes>, Lines>) -> Answer {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(media));
    response
}
