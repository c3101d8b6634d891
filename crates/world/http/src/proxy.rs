//! Sends requests through an HTTP proxy: with `CONNECT` for TLS, and otherwise with the whole URL.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyper::{HeaderMap, header};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::Address;

/// The longest response to `CONNECT` that is read.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// A proxy with its credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) address: Address,
    /// The value `Basic …`, if the URL contains credentials.
    authorization: Option<header::HeaderValue>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Parses a URL such as `http://proxy.example:3128`, also with `user:password@`.
    pub fn parse(url: &str) -> Result<Self, String> {
        let rest = url.strip_prefix("http://").ok_or("must begin with http://")?;
        let (who, host) = rest.rsplit_once('@').map_or((None, rest), |(who, host)| (Some(who), host));
        let (address, _) = Address::parse(&format!("http://{host}"))?;
        let authorization =
            who.map(|who| header::HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(who))));
        let authorization = authorization.transpose().map_err(|error| error.to_string())?;
        Ok(Proxy { address, authorization })
    }

    pub(crate) fn authorise(&self, headers: &mut HeaderMap) {
        if let Some(authorization) = &self.authorization {
            headers.insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
    }

    /// Asks the proxy to connect to a host.
    pub(crate) async fn open(&self, stream: &mut TcpStream, to: &Address) -> Result<(), String> {
        let host = if to.host.contains(':') { format!("[{}]", to.host) } else { to.host.clone() };
        let target = format!("{host}:{}", to.port);
        let authorization = self.authorization.as_ref().and_then(|value| value.to_str().ok());
        let authorization = authorization.map(|value| format!("proxy-authorization: {value}\r\n")).unwrap_or_default();
        let request = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{authorization}\r\n");
        stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
        let head = head(stream).await?;
        let status = head.split_whitespace().nth(1).unwrap_or_default();
        match status.starts_with('2') {
            true => Ok(()),
            false => Err(format!("it answered `{}`", head.lines().next().unwrap_or_default())),
        }
    }
}

/// Reads the head byte by byte, because the bytes after it belong to the tunnelled connection.
async fn head(stream: &mut TcpStream) -> Result<String, String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            return Err("its answer is incomplete".to_owned());
        }
        let byte = stream.read_u8().await.map_err(|error| error.to_string())?;
        head.push(byte);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_as_a_header() {
        let proxy = Proxy::parse("http://user:pass word@proxy.example:3128").unwrap();
        assert_eq!(proxy.authorization.unwrap(), "Basic dXNlcjpwYXNzIHdvcmQ=");
    }

    #[test]
    fn debug_output_of_a_proxy_hides_the_password() {
        let proxy = Proxy::parse("http://me:secret@proxy.example:3128").unwrap();
        assert_eq!((proxy.address.host.as_str(), proxy.address.port), ("proxy.example", 3128));
        assert!(proxy.authorization.is_some() && !format!("{proxy:?}").contains("secret"));
        for wrong in ["https://proxy.example", "proxy.example:1", "http://", ""] {
            assert!(Proxy::parse(wrong).is_err(), "{wrong}");
        }
    }
}
