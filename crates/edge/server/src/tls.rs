//! Connections with TLS, for a server that other computers reach directly.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

use crate::problem::{Problem, Result};

/// The files of a certificate.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate and those that it builds on, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

impl Tls {
    /// Reads the certificate.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor> {
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
