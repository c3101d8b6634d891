//! The way out of a program's private network, for `network: only`: a proxy in this process, and the environment variables
//! that lead programs to it.
//!
//! The launcher makes the listeners inside the private network and sends them here, so that no process inside serves
//! them. Programs that ignore the variables reach nothing but the listed loopback ports.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener as StdListener},
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
};

use interlock_proxy::{Allow, Destination, Names, Proxy, Service};
use interlock_sandbox::{ATTACHED_MAX, Network, Rules, receive_files};
use tokio::{
    io::Interest,
    net::{TcpListener, UnixStream},
    sync::oneshot,
    task::JoinHandle,
};

/// The port of the proxy in the private network, or the first one after it that is not a listed loopback port.
const PORT: u16 = 13_128;

/// Variables that name the proxy, in both spellings because programs differ.
const PROXY: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Variables that name the hosts that are reached directly: the private loopback interface.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
const DIRECT: &str = "localhost,127.0.0.1,::1";

/// Makes Node.js respect the variables above.
const NODE: (&str, &str) = ("NODE_USE_ENV_PROXY", "1");

/// The proxy of a running program. If this is dropped, all its connections are closed.
#[derive(Debug)]
pub(crate) struct WayOut {
    listen: Vec<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Vec<Destination>>,
}

impl WayOut {
    /// Starts the proxy that these rules need, if any, and returns the socket to which the launcher sends the listeners.
    pub(crate) fn open(rules: &Rules) -> io::Result<Option<(Self, OwnedFd)>> {
        if rules.network != Network::Only {
            return Ok(None);
        }
        let allow = Allow::parse(&rules.hosts).map_err(|error| io::Error::other(format!("hosts: {error}")))?;
        let listen = addresses(&allow)?;
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let (stop, stopped) = oneshot::channel();
        let serving = serve(UnixStream::from_std(ours)?, allow, listen.clone(), stopped);
        Ok(Some((WayOut { listen, stop: Some(stop), serving: tokio::spawn(serving) }, theirs.into())))
    }

    /// Returns the addresses of the listeners.
    pub(crate) fn listen(&self) -> &[SocketAddr] {
        &self.listen
    }

    /// Returns the variables that lead programs to the proxy.
    pub(crate) fn env(&self) -> impl Iterator<Item = (&'static str, String)> {
        let url = self.listen.first().map(|proxy| format!("http://{proxy}")).unwrap_or_default();
        let proxy = PROXY.into_iter().map(move |name| (name, url.clone()));
        proxy.chain(NO_PROXY.map(|name| (name, DIRECT.to_owned()))).chain([(NODE.0, NODE.1.to_owned())])
    }

    /// Closes the proxy and returns the destinations that the program asked for.
    pub(crate) async fn close(mut self) -> Vec<Destination> {
        self.stop = None;
        (&mut self.serving).await.unwrap_or_default()
    }
}

impl Drop for WayOut {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Returns the address of the proxy and then the listed loopback addresses.
fn addresses(allow: &Allow) -> io::Result<Vec<SocketAddr>> {
    let mut loopback: Vec<SocketAddr> = allow.loopback().collect();
    loopback.sort_unstable();
    loopback.dedup();
    if loopback.len() >= ATTACHED_MAX {
        return Err(io::Error::other(format!("hosts: more than {} loopback ports are listed", ATTACHED_MAX - 1)));
    }
    let is_free = |port: &u16| loopback.iter().all(|address| address.port() != *port);
    let port = (PORT..=u16::MAX).find(is_free).unwrap_or(PORT);
    Ok(std::iter::once(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).chain(loopback).collect())
}

/// Receives the listeners and serves them until the program has ended.
async fn serve(
    socket: UnixStream,
    allow: Allow,
    listen: Vec<SocketAddr>,
    stopped: oneshot::Receiver<()>,
) -> Vec<Destination> {
    let proxy = Proxy::new(allow, Names::System);
    let work = async {
        // A launcher that cannot make the listeners reports this itself.
        if let Ok(listeners) = receive(&socket).await {
            let services = listen.iter().enumerate().map(|(at, address)| match at {
                0 => Service::Proxy,
                _ => Service::Forward(*address),
            });
            listeners.into_iter().zip(services).for_each(|(listener, service)| proxy.serve(listener, service));
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        _ = stopped => {}
        () = work => {}
    }
    proxy.finish().await
}

async fn receive(socket: &UnixStream) -> io::Result<Vec<TcpListener>> {
    let files = socket.async_io(Interest::READABLE, || receive_files(socket)).await?;
    let listener = |file: OwnedFd| {
        let listener = StdListener::from(file);
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    };
    files.into_iter().map(listener).collect()
}
