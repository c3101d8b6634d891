//! One request and its response over a connection of its own. Dropping the future closes the connection.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response, body::Incoming, client::conn::http1, header::HeaderMap};
use hyper_util::rt::TokioIo;
use interlock_activity::{Outcome, code};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};

use super::address::Address;

/// The longest body that is read.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// By name in lower case; of several with one name the values stand behind each other, with commas.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// Whose certificates are believed: read once, when first needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trust(Arc<OnceLock<Result<Arc<ClientConfig>, String>>>);

impl Trust {
    fn config(&self) -> Result<Arc<ClientConfig>, String> {
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

/// Asks, and reads the whole answer.
pub(super) async fn exchange(address: &Address, request: Request<Vec<u8>>, trust: &Trust) -> Result<Reply, Outcome> {
    let unreachable = |why: String| {
        Outcome::error(code::UNREACHABLE, format!("{}:{} could not be reached: {why}", address.host, address.port))
    };
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await;
    let stream = stream.map_err(|error| unreachable(error.to_string()))?;
    if !address.is_tls {
        return talk(stream, request).await;
    }
    let config = trust.config().map_err(unreachable)?;
    let name = ServerName::try_from(address.host.clone()).map_err(|error| unreachable(error.to_string()))?;
    let stream = TlsConnector::from(config).connect(name, stream).await;
    talk(stream.map_err(|error| unreachable(error.to_string()))?, request).await
}

/// From here on the request may have had its effect, whatever comes back.
async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Vec<u8>>,
) -> Result<Reply, Outcome> {
    let broken = |why: String| Outcome::error(code::FAILED, format!("there was no proper answer: {why}"));
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(error.to_string()))?;
    let answer = async {
        let response = sender.send_request(request.map(|body| Full::new(hyper::body::Bytes::from(body)))).await;
        read(response.map_err(|error| broken(error.to_string()))?).await.map_err(broken)
    };
    tokio::pin!(connection, answer);
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        // The connection may be over before all that came with it is read.
        _ = &mut connection => answer.await,
    }
}

async fn read(response: Response<Incoming>) -> Result<Reply, String> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(|error| error.to_string())?;
    Ok(Reply { status: head.status.as_u16(), headers: headers(&head.headers), body: body.to_bytes().into() })
}

fn headers(all: &HeaderMap) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in all {
        let value = String::from_utf8_lossy(value.as_bytes());
        let known = headers.entry(name.as_str().to_owned()).or_default();
        let between = if known.is_empty() { "" } else { ", " };
        *known = format!("{known}{between}{value}");
    }
    headers
}
