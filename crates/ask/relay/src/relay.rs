//! The relay of one attempt: accepts connections on loopback, a bounded number at once, until it is closed.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use interlock_http::Client;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, oneshot},
    task::{JoinHandle, JoinSet},
};

use crate::{Credential, Origin, Report, body::Bodies, forward::answer, tally::Tally};

/// Maximum number of connections at once. Others wait until one is closed.
const CONNECTIONS_MAX: usize = 128;

/// Pause after a failed `accept`, for example if no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The longest time in which an agent sends the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(60);

/// Everything that a relay needs.
#[derive(Debug)]
pub struct Setup {
    /// The server of the model.
    pub origin: Origin,
    /// The key of that server.
    pub credential: Credential,
    /// The token that the agent must send.
    pub token: String,
    /// The number of tokens that may be used; without a limit if `None`.
    pub tokens_max: Option<u64>,
    /// Connects to the origin.
    pub client: Client,
}

/// The parts that all connections use.
pub(crate) struct Shared {
    pub(crate) origin: Origin,
    pub(crate) credential: Credential,
    pub(crate) token: String,
    pub(crate) tally: Arc<Tally>,
    pub(crate) client: Client,
    pub(crate) bodies: Bodies,
}

/// A running relay. If it is dropped, all its connections are closed.
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl Relay {
    /// Starts a relay on a free port of the loopback interface.
    pub async fn open(setup: Setup) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let Setup { origin, credential, token, tokens_max, client } = setup;
        let tally = Arc::new(Tally::new(tokens_max));
        let shared = Arc::new(Shared { origin, credential, token, tally, client, bodies: Bodies::default() });
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared), stopped));
        Ok(Relay { address, shared, stop: Some(stop), serving })
    }

    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the token that the agent must send.
    pub fn token(&self) -> &str {
        &self.shared.token
    }

    /// Returns the tokens so far.
    pub fn tokens(&self) -> u64 {
        self.shared.tally.tokens()
    }

    /// Returns true if the budget is spent: a request was refused for that, or a reply went over it.
    pub fn is_spent(&self) -> bool {
        self.shared.tally.is_spent()
    }

    /// Waits until the budget is spent. Can be awaited again.
    pub async fn spent(&self) {
        self.shared.tally.spent().await;
    }

    /// Closes all connections and returns the report.
    pub async fn close(mut self) -> Report {
        self.stop = None;
        // Only a task that was aborted ends with an error, and nobody else can abort it.
        let _ = (&mut self.serving).await;
        self.shared.tally.report(self.shared.origin.url())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Serves until the relay is closed. Replies that are broken off by the end are counted before this returns.
async fn serve(listener: TcpListener, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    tokio::select! {
        _ = stopped => {}
        () = accept(listener, shared, &mut connections) => {}
    }
    connections.shutdown().await;
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, connections: &mut JoinSet<()>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            connection(stream, &shared).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| answer(request, shared));
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    // An agent that breaks its connection is no error of the relay.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}
