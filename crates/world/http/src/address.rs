//! The address of a request, parsed from a URL.

use std::net::{IpAddr, Ipv6Addr};

use hyper::{Uri, header::HeaderValue};

/// A host with its port and protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The host, without the brackets of an IPv6 address.
    pub host: String,
    /// The port; 443 or 80 if the URL names none.
    pub port: u16,
    /// True if the scheme is `https`.
    pub is_tls: bool,
}

impl Address {
    /// Parses a URL into the address and the path to request.
    pub fn parse(url: &str) -> Result<(Self, Uri), String> {
        let uri: Uri = url.parse().map_err(|error| format!("is not a URL: {error}"))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("must begin with http:// or https://".to_owned()),
        };
        let authority = uri.authority().ok_or("has no host")?;
        if authority.as_str().contains('@') {
            return Err("must not contain a user name or password; use an `authorization` header".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = path.parse().map_err(|error| format!("has an invalid path: {error}"))?;
        match host.is_empty() {
            true => Err("has no host".to_owned()),
            false => Ok((Address { host, port, is_tls }, path)),
        }
    }

    /// The value of the `Host` header.
    pub fn header(&self) -> Result<HeaderValue, String> {
        let host = match self.host.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => self.host.clone(),
        };
        let is_usual = self.port == if self.is_tls { 443 } else { 80 };
        let text = if is_usual { host } else { format!("{host}:{}", self.port) };
        HeaderValue::from_str(&text).map_err(|error| error.to_string())
    }

    /// Returns true if the host is this computer.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn urls_are_parsed_and_loopback_is_recognised() {
        let cases = [
            ("http://localhost:8080/a?b=c", Ok(("localhost", 8080, true))),
            ("HTTPS://Example.COM", Ok(("example.com", 443, false))),
            ("http://example.com:81", Ok(("example.com", 81, false))),
            ("http://[::1]:1/", Ok(("::1", 1, true))),
            ("http://127.1.2.3", Ok(("127.1.2.3", 80, true))),
            ("http://api.example.org:8443", Ok(("api.example.org", 8443, false))),
            ("http://api.example.org", Ok(("api.example.org", 80, false))),
            ("http://evil.com", Ok(("evil.com", 80, false))),
            ("http://localhost.evil.com", Ok(("localhost.evil.com", 80, false))),
            ("http://127.0.0.1.evil.com", Ok(("127.0.0.1.evil.com", 80, false))),
            ("http://sub.example.com", Ok(("sub.example.com", 80, false))),
            ("http://example.com@evil.com", Err(())),
            ("ftp://example.com", Err(())),
            ("example.com", Err(())),
            ("http://", Err(())),
            ("", Err(())),
        ];
        for (url, expected) in cases {
            let found = Address::parse(url).map(|(address, _)| address);
            let found = found.map_err(drop).map(|it| (it.host.clone(), it.port, it.is_loopback()));
            let expected = expected.map(|(host, port, is_here)| (host.to_owned(), port, is_here));
            assert_eq!(found, expected, "{url}");
        }
    }
}
