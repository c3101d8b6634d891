//! The one origin of a relay, and the paths that it forwards.

use hyper::Uri;
use interlock_http::Address;

/// The paths of models. Other paths of the same server, such as those that manage an account, need to be listed.
pub(crate) const PATHS: [&str; 6] =
    ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/models", "/v1beta/models"];

/// An origin with the prefix of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub(crate) address: Address,
    /// The text before each path; empty, or `/` and a name.
    prefix: String,
    paths: Vec<String>,
    url: String,
}

impl Origin {
    /// Reads a URL such as `https://api.example.com`. Its path goes before the path of every request. Without TLS only
    /// this computer can be addressed. `paths` replaces the list of forwarded paths unless it is empty.
    pub fn parse(url: &str, paths: &[String]) -> Result<Self, String> {
        let (address, path) = Address::parse(url)?;
        if !address.is_tls && !address.is_loopback() {
            return Err(
                "must begin with https://, because only a server on this computer is reached without TLS".into()
            );
        }
        if path.query().is_some() || url.contains('#') {
            return Err("must end with its path".to_owned());
        }
        let prefix = path.path().trim_end_matches('/').to_owned();
        if !is_plain(&prefix) {
            return Err("has a path with empty segments or dots".to_owned());
        }
        if let Some(bad) = paths.iter().find(|path| !path.starts_with('/') || path.len() < 2 || !is_plain(path)) {
            return Err(format!("cannot have the path `{bad}`; use a path such as `/v1/messages`"));
        }
        let paths = match paths.is_empty() {
            true => PATHS.map(str::to_owned).to_vec(),
            false => paths.iter().map(|path| path.trim_end_matches('/').to_owned()).collect(),
        };
        Ok(Origin { address, prefix, paths, url: url.trim_end_matches('/').to_owned() })
    }

    /// Returns the URL as the settings have it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the host without its port.
    pub fn host(&self) -> &str {
        &self.address.host
    }

    /// Returns the target at the origin for a request to the relay, or `None` if its path is not forwarded.
    pub(crate) fn target(&self, uri: &Uri) -> Option<Uri> {
        // A target with a host is meant for another server.
        let is_ours = uri.authority().is_none() && uri.scheme().is_none();
        let path = uri.path();
        let is_listed = |listed: &String| {
            path.strip_prefix(listed.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if !is_ours || !is_plain(path) || !self.paths.iter().any(is_listed) {
            return None;
        }
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{path}{query}", self.prefix).parse().ok()
    }
}

/// Returns true if a path means the same to every server: no empty segments, no dots, no encoded separators.
fn is_plain(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let mut segments = path.strip_prefix('/').unwrap_or(&path).split('/').peekable();
    let has_signs = ["%2f", "%5c", "%00", "\\"].iter().any(|sign| path.contains(sign));
    let mut is_good = !has_signs;
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        let decoded = segment.replace("%2e", ".");
        is_good &= (!segment.is_empty() || is_last) && decoded != "." && decoded != "..";
    }
    is_good
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(origin: &Origin, text: &str) -> Option<String> {
        origin.target(&text.parse().unwrap()).map(|uri| uri.to_string())
    }

    #[test]
    fn only_listed_paths_of_the_origin_are_forwarded() {
        let origin = Origin::parse("https://gateway.example/api/", &[]).unwrap();
        assert_eq!(target(&origin, "/v1/messages?beta=true").as_deref(), Some("/api/v1/messages?beta=true"));
        assert_eq!(target(&origin, "/v1/messages/count_tokens").as_deref(), Some("/api/v1/messages/count_tokens"));
        for bad in [
            "/",
            "/v1/organizations",
            "/v1/messagesx",
            "/v1/messages/../organizations",
            "/v1/messages/%2E%2e/organizations",
            "/v1/messages/..%2forganizations",
            "/v1/messages//x",
            "//evil.example/v1/messages",
            "http://evil.example/v1/messages",
            "evil.example:443",
        ] {
            assert_eq!(target(&origin, bad), None, "{bad}");
        }
        let own = Origin::parse("https://gateway.example", &["/chat".to_owned()]).unwrap();
        assert_eq!((target(&own, "/chat"), target(&own, "/v1/messages")), (Some("/chat".to_owned()), None));
    }

    #[test]
    fn plain_http_leads_only_to_this_computer() {
        assert!(Origin::parse("http://127.0.0.1:11434", &[]).is_ok());
        for bad in ["http://api.example.com", "ftp://x", "https://a.b/x?y", "https://a.b/x/../y", "https://me@a.b", ""]
        {
            assert!(Origin::parse(bad, &[]).is_err(), "{bad}");
        }
        assert!(Origin::parse("https://a.b", &["v1".to_owned()]).is_err());
    }
}
