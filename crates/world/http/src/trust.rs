//! The certificates that the client trusts.

use std::sync::{Arc, OnceLock};

use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::pin::Pin;

/// The certificates that this computer trusts, read on first use; or exactly one pinned certificate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trust {
    config: Arc<OnceLock<Result<Arc<ClientConfig>, String>>>,
    pin: Option<[u8; 32]>,
}

impl Trust {
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        self.config.get_or_init(|| self.load().map(Arc::new)).clone()
    }

    pub(crate) fn pinned(sha256: [u8; 32]) -> Self {
        Trust { pin: Some(sha256), ..Trust::default() }
    }

    fn load(&self) -> Result<ClientConfig, String> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
        Ok(match self.pin {
            Some(sha256) => config.dangerous().with_custom_certificate_verifier(Arc::new(Pin::new(sha256, provider))),
            None => config.with_root_certificates(roots()),
        }
        .with_no_client_auth())
    }
}

fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
