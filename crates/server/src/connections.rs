//! Serves HTTP on connections, with limits that keep a slow or greedy client from taking the server away from others: a
//! time for the head of a request, and a number of connections.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    response::Response,
    serve::Listener,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::tls::Peer;

/// The time in which the head of a request must arrive, and for which an unused connection stays open.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// The most connections at a time. Further clients wait until one ends. It leaves room for the store's own files below
/// the usual limit of 1,024 open files.
const CONNECTIONS_MAX: usize = 600;

/// Accepts and serves connections forever.
pub(crate) async fn serve<L: Listener<Addr = SocketAddr>>(mut listener: L, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let (stream, peer) = listener.accept().await;
        let router = router.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(router.clone(), peer, request));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            // A connection that breaks is its client's affair.
            let _ = http.serve_connection(TokioIo::new(stream), answer).await;
            drop(permit);
        });
    }
}

async fn answer(
    router: Router,
    peer: SocketAddr,
    mut request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    request.extensions_mut().insert(ConnectInfo(Peer(peer)));
    let request: Request = request.map(Body::new);
    router.oneshot(request).await
}
