//! Serves HTTP on connections, with limits that keep a slow or greedy client from taking the server away from others.
//!
//! A connection is a stranger until a request on it has shown a token or a session. Connections are accepted at once;
//! if there are too many strangers, the one that has been one for the longest is closed, among those of the address with
//! most of them. So connections that send nothing delay nobody.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    http::{HeaderValue, header},
    response::Response,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use crate::tls::Peer;

/// The time in which the head of a request must arrive, and for which an unused connection stays open.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// The time that a client has to agree on a connection with TLS.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// The most connections of strangers.
const STRANGERS_MAX: usize = 256;

/// The most connections of known senders. Both numbers together leave room for the store's own files below the usual
/// limit of 1,024 open files.
const KNOWN_MAX: usize = 450;

/// The pause after the system has refused a connection, for instance because too many files are open.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// The connections of a server.
#[derive(Debug, Default)]
struct Connections {
    /// The strangers in the order of arrival. Dropping the sender closes the connection.
    strangers: Mutex<BTreeMap<u64, (IpAddr, oneshot::Sender<()>)>>,
    known: AtomicUsize,
}

/// One connection, as its requests know it.
#[derive(Clone, Debug)]
pub(crate) struct Connection(Arc<Place>);

#[derive(Debug)]
struct Place {
    all: Arc<Connections>,
    number: u64,
    is_known: Mutex<bool>,
}

impl Connections {
    /// Notes a new connection. Returns its place, and a receiver that ends when the connection has to be closed.
    fn enter(self: &Arc<Self>, number: u64, from: IpAddr) -> (Connection, oneshot::Receiver<()>) {
        let (keep, closed) = oneshot::channel();
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if strangers.len() >= STRANGERS_MAX
            && let Some(oldest) = oldest_of_most(&strangers)
        {
            strangers.remove(&oldest);
        }
        strangers.insert(number, (from, keep));
        let place = Place { all: Arc::clone(self), number, is_known: Mutex::new(false) };
        (Connection(Arc::new(place)), closed)
    }

    /// Closes a stranger's connection, if there is one.
    fn close_one(&self) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(oldest) = oldest_of_most(&strangers) {
            strangers.remove(&oldest);
        }
    }
}

/// Returns the oldest connection of the address that has most of them.
fn oldest_of_most<T>(strangers: &BTreeMap<u64, (IpAddr, T)>) -> Option<u64> {
    let mut counts: BTreeMap<IpAddr, (usize, u64)> = BTreeMap::new();
    for (number, (from, _)) in strangers {
        counts.entry(*from).or_insert((0, *number)).0 += 1;
    }
    counts.values().max_by_key(|(count, oldest)| (*count, u64::MAX - oldest)).map(|(_, oldest)| *oldest)
}

impl Connection {
    /// The sender of a request is known: the connection stays. Returns false if there are too many of them.
    pub(crate) fn is_known(&self) -> bool {
        let place = &self.0;
        let mut is_known = place.is_known.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_known {
            return true;
        }
        if place.all.known.fetch_add(1, SeqCst) >= KNOWN_MAX {
            place.all.known.fetch_sub(1, SeqCst);
            return false;
        }
        *is_known = true;
        let mut strangers = place.all.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, keep)) = strangers.remove(&place.number) {
            // The connection waits for a close only; this tells it that none will come.
            let _ = keep.send(());
        }
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if *self.is_known.get_mut().unwrap_or_else(PoisonError::into_inner) {
            self.all.known.fetch_sub(1, SeqCst);
        }
        self.all.strangers.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

/// Accepts and serves connections forever.
pub(crate) async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router) {
    let all = Arc::new(Connections::default());
    for number in 0.. {
        let (stream, peer) = loop {
            match listener.accept().await {
                Ok(accepted) => break accepted,
                Err(_) => {
                    all.close_one();
                    tokio::time::sleep(REFUSED_PAUSE).await;
                }
            }
        };
        let (connection, closed) = all.enter(number, peer.ip());
        let (tls, router) = (tls.clone(), router.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = agree(stream, tls, router, peer, connection) => {}
                () = until_closed(closed) => {}
            }
        });
    }
}

/// Ends when the connection of a stranger has to be closed; never for a known sender.
async fn until_closed(closed: oneshot::Receiver<()>) {
    if closed.await.is_ok() {
        std::future::pending().await
    }
}

async fn agree(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router, peer: SocketAddr, connection: Connection) {
    match tls {
        None => talk(stream, router, peer, connection).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIME, tls.accept(stream)).await {
                talk(stream, router, peer, connection).await;
            }
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    peer: SocketAddr,
    connection: Connection,
) {
    let answer = service_fn(move |request| answer(router.clone(), peer, connection.clone(), request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    // A connection that breaks is its client's affair.
    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
}

async fn answer(
    router: Router,
    peer: SocketAddr,
    connection: Connection,
    mut request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    request.extensions_mut().insert(ConnectInfo(Peer(peer)));
    request.extensions_mut().insert(connection.clone());
    let request: Request = request.map(Body::new);
    let mut response = router.oneshot(request).await?;
    let is_known = *connection.0.is_known.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_known {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stranger_of_the_address_with_most_of_them_is_closed() {
        let all = Arc::new(Connections::default());
        let address = |last| IpAddr::from([10, 0, 0, last]);
        let mut quiet = all.enter(0, address(1));
        let mut greedy: Vec<_> = (1..STRANGERS_MAX as u64).map(|number| all.enter(number, address(2))).collect();
        let (known, mut stays) = (greedy[0].0.clone(), all.enter(1_000, address(3)));
        assert!(greedy[0].1.try_recv() == Err(oneshot::error::TryRecvError::Closed), "the greedy one's oldest");
        assert!(greedy[1].1.try_recv() == Err(oneshot::error::TryRecvError::Empty));
        assert!(quiet.1.try_recv() == Err(oneshot::error::TryRecvError::Empty));
        assert!(stays.0.is_known() && stays.1.try_recv() == Ok(()));
        drop((known, stays));
        assert_eq!(all.known.load(SeqCst), 0);
    }
}
