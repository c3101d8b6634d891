//! Hosts in the addresses that programs are given.

/// The host and port of `https://user@host:port/path`, `user@host:path` or `host:port`.
pub(crate) fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let usual = match scheme {
        Some("https") => Some(443),
        Some("http") => Some(80),
        _ => None,
    };
    (!host.is_empty()).then_some((host, port.or(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_addresses() {
        let cases = [
            ("https://example.com/x", Some(("example.com", Some(443)))),
            ("http://user:pw@example.com:8080/x", Some(("example.com", Some(8080)))),
            ("https://good.com\\@evil.com/", Some(("good.com", Some(443)))),
            ("git@github.com:a/b.git", Some(("github.com", None))),
            ("example.com", Some(("example.com", None))),
            ("http://[::1]:80/", Some(("[::1]", Some(80)))),
            ("http:///x", None),
        ];
        for (text, expected) in cases {
            assert_eq!(host_and_port(text), expected, "{text}");
        }
    }
}
