//! The proxy of one program: accepts its connections, a bounded number at once, until it is finished.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};

use crate::{Allow, Destination, connection, log::Log};

/// Maximum number of connections at once. Others wait until one is closed.
const CONNECTIONS_MAX: usize = 256;

/// Pause after a failed `accept`, for example if no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The source of the addresses of names.
#[derive(Clone, Debug, Default)]
pub enum Names {
    /// The resolver of this computer.
    #[default]
    System,
    /// A fixed table. Other names have no address.
    Fixed(BTreeMap<String, Vec<IpAddr>>),
}

/// The service behind a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Requests to the proxy.
    Proxy,
    /// A connection to this listed address, byte for byte.
    Forward(SocketAddr),
}

/// A proxy. If it is dropped, all its connections are closed.
pub struct Proxy {
    shared: Arc<Shared>,
    tasks: Mutex<JoinSet<()>>,
}

/// The parts that all connections use.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) allow: Allow,
    pub(crate) names: Names,
    pub(crate) log: Log,
    room: Arc<Semaphore>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Proxy").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Creates a proxy that connects to these hosts. It serves nobody yet.
    pub fn new(allow: Allow, names: Names) -> Self {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let shared = Arc::new(Shared { allow, names, log: Log::default(), room });
        Proxy { shared, tasks: Mutex::default() }
    }

    /// Serves a listener from now on.
    pub fn serve(&self, listener: TcpListener, service: Service) {
        let accepting = accept(listener, service, Arc::clone(&self.shared));
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(accepting);
    }

    /// Closes all connections and returns the destinations that the program asked for.
    pub async fn finish(self) -> Vec<Destination> {
        let mut tasks = self.tasks.into_inner().unwrap_or_else(PoisonError::into_inner);
        tasks.shutdown().await;
        self.shared.log.destinations()
    }
}

/// Accepts connections. Each belongs to this task, so that it is closed with it.
async fn accept(listener: TcpListener, service: Service, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // Only a place that is free is offered: the kernel keeps the other clients waiting.
        let Ok(place) = Arc::clone(&shared.room).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            serve(client, service, &shared).await;
            drop(place);
        });
    }
}

async fn serve(client: TcpStream, service: Service, shared: &Shared) {
    match service {
        Service::Proxy => connection::request(client, shared).await,
        Service::Forward(to) => connection::forward(client, to, shared).await,
    }
}
