//! The head of a request to the proxy: `CONNECT host:port`, or a method with an absolute URL.

use crate::allow::{Host, host_and_port};

/// The port of a URL that names none.
const HTTP_PORT: u16 = 80;

/// Headers that concern only the connection to the proxy, and those that the proxy sets itself.
const DROPPED: [&str; 7] =
    ["connection", "proxy-connection", "proxy-authorization", "keep-alive", "host", "te", "upgrade"];

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The bytes after the head go to the host as they are.
    Connect,
    /// A request that is sent on with this head and a body.
    Http { head: Vec<u8>, body: Body },
}

/// The length of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Bytes(u64),
    /// In chunks: the end is not known in advance.
    Chunks,
}

impl Head {
    /// Parses a head, which ends with an empty line. Returns `None` if it cannot be understood in exactly one way.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let is_plain = |letter: char| !letter.is_control() || matches!(letter, '\r' | '\n' | '\t');
        let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_proper = words.next().is_none() && matches!(version, "HTTP/1.1" | "HTTP/1.0") && is_token(method);
        if !is_proper || !text.chars().all(is_plain) || text.replace("\r\n", "\n").contains('\r') {
            return None;
        }
        let headers = headers(lines)?;
        match method {
            "CONNECT" => {
                let (host, port) = host_and_port(target, None)?;
                Some(Head { host, port, kind: Kind::Connect })
            }
            _ => absolute(method, target, &headers),
        }
    }
}

fn absolute(method: &str, target: &str, headers: &[(&str, &str)]) -> Option<Head> {
    let (scheme, rest) = target.split_at_checked("http://".len())?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return None;
    }
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let (host, port) = host_and_port(authority, Some(HTTP_PORT))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    // The answer ends with the connection, so that the next request is checked again.
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    for (name, value) in
        headers.iter().filter(|(name, _)| !DROPPED.iter().any(|known| name.eq_ignore_ascii_case(known)))
    {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    Some(Head { host, port, kind: Kind::Http { head: head.into_bytes(), body: body(headers)? } })
}

fn headers<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Vec<(&'t str, &'t str)>> {
    let lines = lines.take_while(|line| !line.is_empty());
    // A name with a space or an empty name, and a line that continues another one, could be read in two ways.
    let header = |line: &'t str| line.split_once(':').filter(|(name, _)| is_token(name));
    lines.map(header).map(|header| header.map(|(name, value)| (name, value.trim()))).collect()
}

fn is_token(text: &str) -> bool {
    let is_mark = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

fn body(headers: &[(&str, &str)]) -> Option<Body> {
    let values = |wanted: &'static str| {
        headers.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value)
    };
    let (mut lengths, mut codings) = (values("content-length"), values("transfer-encoding"));
    match (lengths.next(), codings.next(), lengths.next().is_some() || codings.next().is_some()) {
        (None, None, false) => Some(Body::Bytes(0)),
        (Some(length), None, false) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
            length.parse().ok().map(Body::Bytes)
        }
        (None, Some(coding), false) if coding.eq_ignore_ascii_case("chunked") => Some(Body::Chunks),
        // Two lengths, or a length and chunks, mean different things to different servers.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host, a port and, for plain HTTP, the rewritten head with the kind of its body.
    type Parsed = (String, u16, Option<(String, Body)>);

    fn parse(text: &str) -> Option<Parsed> {
        let Head { host, port, kind } = Head::parse(text.as_bytes())?;
        let http = match kind {
            Kind::Connect => None,
            Kind::Http { head, body } => Some((String::from_utf8(head).unwrap(), body)),
        };
        Some((host.to_string(), port, http))
    }

    #[test]
    fn a_tunnel_names_host_and_port() {
        let found = parse("CONNECT api.example.com:443 HTTP/1.1\r\nHost: other.org\r\n\r\n").unwrap();
        assert_eq!(found, ("api.example.com".into(), 443, None));
    }

    #[test]
    fn a_plain_request_is_rewritten_for_its_server() {
        let text = "POST http://Example.com/a?b HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: x\r\n\
                    Content-Length: 3\r\nAccept: */*\r\n\r\n";
        let (host, port, http) = parse(text).unwrap();
        let head =
            "POST /a?b HTTP/1.1\r\nHost: Example.com\r\nConnection: close\r\nContent-Length: 3\r\nAccept: */*\r\n\r\n";
        assert_eq!((host.as_str(), port, http.unwrap()), ("example.com", 80, (head.to_owned(), Body::Bytes(3))));
    }

    #[test]
    fn ambiguous_heads_are_not_understood() {
        for bad in [
            "",
            "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
            "GET https://example.com/ HTTP/1.1\r\n\r\n",
            "GET http://user@example.com/ HTTP/1.1\r\n\r\n",
            "GET http://example.com@evil.org/ HTTP/1.1\r\n\r\n",
            "GET http://example.com/ HTTP/2\r\n\r\n",
            "GET http://example.com/ a HTTP/1.1\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT http://example.com:443/ HTTP/1.1\r\n\r\n",
            "GET http://example.com/ HTTP/1.1\r\nA: b\r\n continued\r\n\r\n",
            "GET http://example.com/ HTTP/1.1\r\nContent-Length : 3\r\n\r\n",
            "POST http://example.com/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://example.com/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
            "POST http://example.com/ HTTP/1.1\r\nContent-Length: +3\r\n\r\n",
            "GET http://example.com/ HTTP/1.1\r\nA: b\rHost: evil.org\r\n\r\n",
            "GET http://example.com/\0 HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
