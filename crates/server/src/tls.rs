//! Connections with TLS, for a server that other computers reach directly.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::serve::Listener;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
    server::TlsStream,
};

use crate::problem::{Problem, Result};

/// The time that a client has to agree on a connection.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// The most connections that wait to be served.
const WAITING_MAX: usize = 64;

/// The pause after the system has refused a connection, for instance because too many files are open.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// The files of a certificate.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate and those that it builds on, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

impl Tls {
    fn acceptor(&self) -> Result<TlsAcceptor> {
        let wrong = |path: &PathBuf, why: String| Problem::bad_input(format!("cannot use {}: {why}", path.display()));
        let certificates = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| wrong(&self.certificate, error.to_string()))?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| wrong(&self.key, error.to_string()))?;
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key);
        let config = config.map_err(|error| wrong(&self.certificate, error.to_string()))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// The address of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Accepts connections with TLS. A client that is slow to agree on one does not delay the others.
pub(crate) struct TlsListener {
    agreed: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    pub(crate) fn new(listener: TcpListener, tls: &Tls) -> Result<Self> {
        let acceptor = tls.acceptor()?;
        let address = listener.local_addr().map_err(|error| Problem::failed(error.to_string()))?;
        let (sender, agreed) = mpsc::channel(WAITING_MAX);
        tokio::spawn(accept(listener, acceptor, sender));
        Ok(TlsListener { agreed, address })
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    sender: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    while !sender.is_closed() {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(REFUSED_PAUSE).await;
            continue;
        };
        let (acceptor, sender) = (acceptor.clone(), sender.clone());
        tokio::spawn(async move {
            if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await {
                // The server has ended if nobody receives.
                let _ = sender.send((stream, peer)).await;
            }
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.agreed.recv().await {
            Some(agreed) => agreed,
            // The accepting task ends only with the server.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
