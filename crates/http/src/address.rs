//! Where a request goes, and whether it may.

use std::net::{IpAddr, Ipv6Addr};

use hyper::{Uri, header::HeaderValue};

/// A host and how to talk to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Without the brackets of an IPv6 address.
    pub host: String,
    /// 443 and 80 where the URL does not say.
    pub port: u16,
    /// Whether it is `https`.
    pub is_tls: bool,
}

impl Address {
    /// From a URL: the address, and what to ask of it.
    pub fn parse(url: &str) -> Result<(Self, Uri), String> {
        let uri: Uri = url.parse().map_err(|error| format!("is not a URL: {error}"))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err("is to begin with http:// or https://".to_owned()),
        };
        let authority = uri.authority().ok_or("has no host")?;
        if authority.as_str().contains('@') {
            return Err("must not carry a name or password; give an `authorization` header".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = path.parse().map_err(|error| format!("has a path that cannot be asked for: {error}"))?;
        match host.is_empty() {
            true => Err("has no host".to_owned()),
            false => Ok((Address { host, port, is_tls }, path)),
        }
    }

    /// As the `Host` header has it.
    pub fn header(&self) -> Result<HeaderValue, String> {
        let host = match self.host.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => self.host.clone(),
        };
        let is_usual = self.port == if self.is_tls { 443 } else { 80 };
        let text = if is_usual { host } else { format!("{host}:{}", self.port) };
        HeaderValue::from_str(&text).map_err(|error| error.to_string())
    }

    /// Whether it is this machine.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_read_from_urls_and_this_machine_is_known() {
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
