//! Sends requests to a Planning/Generating server: one try per call, bounded in time and size.

use std::time::Duration;

use interlock_http::{Address, Client as Http, Method, Request, Uri, header};
use serde_json::Value as Json;

/// The longest reply that is read.
const REPLY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most characters of an error page that a message shows.
const PAGE_CHARS_MAX: usize = 200;

/// The variable with the token of a server that requires one.
pub const TOKEN_VARIABLE: &str = "INTERLOCK_NOTEBOOK_TOKEN";

/// The variable with the base URL of the server, if the machine's input names none.
pub const SERVER_VARIABLE: &str = "DSLC_BASE_URL";

/// A Planning/Generating server.
#[derive(Clone, Debug)]
pub struct Server {
    http: Http,
    /// The address of the server.
    pub address: Address,
    base: String,
    token: Option<String>,
}

/// One of the two endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `/planning`
    Planning,
    /// `/generating`
    Generating,
}

impl Endpoint {
    /// The last part of the URL.
    pub fn path(self) -> &'static str {
        match self {
            Endpoint::Planning => "planning",
            Endpoint::Generating => "generating",
        }
    }
}

impl Server {
    /// Creates a client for the server at this base URL, such as `http://localhost:28600`.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, String> {
        let (address, base) = Address::parse(url.trim_end_matches('/'))?;
        let base = base.path().trim_end_matches('/').to_owned();
        Ok(Server { http: Http::default(), address, base, token })
    }

    /// Sends one request and returns the body of the answer. `piece` is called with the bytes that arrive.
    pub async fn post(
        &self,
        endpoint: Endpoint,
        body: &Json,
        timeout: Duration,
        piece: impl FnMut(&[u8]),
    ) -> Result<Vec<u8>, String> {
        let limited = tokio::time::timeout(timeout, self.exchange(endpoint, body, piece));
        limited.await.unwrap_or_else(|_| Err(format!("no complete answer within {} seconds", timeout.as_secs_f64())))
    }

    async fn exchange(&self, endpoint: Endpoint, body: &Json, mut piece: impl FnMut(&[u8])) -> Result<Vec<u8>, String> {
        let request = self.request(endpoint, body)?;
        let wrong = |error: interlock_http::Error| error.to_string();
        let connection = self.http.connect(&self.address).await.map_err(wrong)?;
        let mut response = connection.send(request).await.map_err(wrong)?;
        let mut bytes = Vec::new();
        while let Some(more) = response.piece().await.map_err(wrong)? {
            if bytes.len() + more.len() > REPLY_BYTES_MAX {
                return Err(format!("the answer is longer than {REPLY_BYTES_MAX} bytes"));
            }
            bytes.extend_from_slice(&more);
            piece(&more);
        }
        match response.status {
            200..300 => Ok(bytes),
            status => {
                let page: String = String::from_utf8_lossy(&bytes).chars().take(PAGE_CHARS_MAX).collect();
                Err(format!("status {status}: {}", page.trim()))
            }
        }
    }

    fn request(&self, endpoint: Endpoint, body: &Json) -> Result<Request<Vec<u8>>, String> {
        let path = format!("{}/{}", self.base, endpoint.path());
        let mut request = Request::new(body.to_string().into_bytes());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = path.parse::<Uri>().map_err(|error| error.to_string())?;
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
        if let Some(token) = &self.token {
            let value = header::HeaderValue::from_str(&format!("Bearer {token}"));
            headers.insert(header::AUTHORIZATION, value.map_err(|error| error.to_string())?);
        }
        Ok(request)
    }
}
