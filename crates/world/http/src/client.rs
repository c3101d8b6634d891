//! Connects to a server and sends the request.

use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{Request, Uri, body::Bytes, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use crate::{Address, Error, Proxy, Response, trust::Trust};

/// A request's body that is sent as it arrives. An error of the body ends the request.
pub type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Sends requests over HTTP.
#[derive(Clone, Debug, Default)]
pub struct Client {
    trust: Trust,
    proxy: Option<Proxy>,
}

/// A connection for one request.
#[derive(Debug)]
pub struct Connection {
    sender: http1::SendRequest<Body>,
    driver: Driver,
    address: Address,
    /// The proxy, if it forwards a plain HTTP request to the host.
    proxy: Option<Proxy>,
}

/// The task that moves the bytes. It is aborted when its holder drops it.
#[derive(Debug)]
pub(crate) struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    /// Creates a client that trusts one certificate by its SHA-256 and no other, for devices whose certificates no
    /// authority has signed.
    pub fn pinned(certificate_sha256: [u8; 32]) -> Self {
        Client { trust: Trust::pinned(certificate_sha256), proxy: None }
    }

    /// Sends requests through a proxy, except those to this computer.
    #[must_use]
    pub fn through(mut self, proxy: Option<Proxy>) -> Self {
        self.proxy = proxy;
        self
    }

    /// Connects to the address without sending a request.
    pub async fn connect(&self, address: &Address) -> Result<Connection, Error> {
        let proxy = self.proxy.as_ref().filter(|_| !address.is_loopback());
        let first = proxy.map_or(address, |proxy| &proxy.address);
        let unreachable = |why: String| Error::Unreachable { host: address.host.clone(), port: address.port, why };
        let stream = TcpStream::connect((first.host.as_str(), first.port)).await;
        let mut stream = stream.map_err(|error| unreachable(via(first, address, &error.to_string())))?;
        if !address.is_tls {
            return begin(stream, address, proxy).await;
        }
        if let Some(proxy) = proxy {
            proxy.open(&mut stream, address).await.map_err(|why| unreachable(via(first, address, &why)))?;
        }
        let config = self.trust.config().map_err(&unreachable)?;
        let name = ServerName::try_from(address.host.clone()).map_err(|error| unreachable(error.to_string()))?;
        let stream = TlsConnector::from(config).connect(name, stream).await;
        begin(stream.map_err(|error| unreachable(error.to_string()))?, address, None).await
    }
}

/// Names the proxy in the reason if the failed connection was to the proxy.
fn via(first: &Address, wanted: &Address, why: &str) -> String {
    match first == wanted {
        true => why.to_owned(),
        false => format!("the proxy {}:{}: {why}", first.host, first.port),
    }
}

async fn begin(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: &Address,
    proxy: Option<&Proxy>,
) -> Result<Connection, Error> {
    let broken = |error: hyper::Error| Error::Broken(error.to_string());
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let driver = tokio::spawn(async move {
        // The caller that waits for the response gets the error.
        let _ = connection.await;
    });
    Ok(Connection { sender, driver: Driver(driver), address: address.clone(), proxy: proxy.cloned() })
}

impl Connection {
    /// Sends the request and waits for the head of the response. `Host`, `User-Agent` and `Connection` are set;
    /// everything else is sent as given.
    pub async fn send(self, request: Request<Vec<u8>>) -> Result<Response, Error> {
        self.stream(request.map(|body| Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync()))
            .await
    }

    /// Sends a request whose body arrives meanwhile; otherwise as [`Connection::send`].
    pub async fn stream(mut self, mut request: Request<Body>) -> Result<Response, Error> {
        let broken = |why: String| Error::Broken(why);
        let host = self.address.header().map_err(broken)?;
        if let Some(proxy) = &self.proxy {
            *request.uri_mut() = absolute(&self.address, request.uri()).map_err(broken)?;
            proxy.authorise(request.headers_mut());
        }
        let headers = request.headers_mut();
        headers.entry(header::HOST).or_insert(host);
        headers.entry(header::USER_AGENT).or_insert(header::HeaderValue::from_static("interlock"));
        headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        let response = self.sender.send_request(request).await;
        let response = response.map_err(|error| broken(told(&error)))?;
        Ok(Response::new(response, self.driver))
    }
}

/// Formats an error with its cause, which hyper leaves out.
pub(crate) fn told(error: &hyper::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

/// The absolute URL that a proxy requires.
fn absolute(address: &Address, path: &Uri) -> Result<Uri, String> {
    let host = address.header()?;
    let host = host.to_str().map_err(|error| error.to_string())?;
    format!("http://{host}{path}").parse().map_err(|error: hyper::http::uri::InvalidUri| error.to_string())
}
