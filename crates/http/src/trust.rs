//! Whose certificates are believed.

use std::sync::{Arc, OnceLock};

use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// The certificates that this computer trusts: read once, when first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trust(Arc<OnceLock<Result<Arc<ClientConfig>, String>>>);

impl Trust {
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        self.0.get_or_init(|| load().map(Arc::new)).clone()
    }
}

fn load() -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
