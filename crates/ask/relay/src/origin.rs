//! The one origin of a relay, and the requests that are forwarded to it.

use hyper::{Method, Uri};
use interlock_http::Address;

use crate::endpoint::{Endpoint, Form, foreign_parameter, is_plain};

/// An origin with the prefix of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub(crate) address: Address,
    /// The text before each path; empty, or `/` and a name.
    prefix: String,
    endpoints: Vec<Endpoint>,
    url: String,
}

/// The reason for not forwarding a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The path is not listed.
    Path,
    /// The path is listed with other methods.
    Method,
    /// The query has this parameter.
    Parameter(String),
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
        let endpoints = match paths.is_empty() {
            true => Endpoint::known(),
            false => paths.iter().map(|path| Endpoint::parse(path)).collect::<Result<_, _>>()?,
        };
        Ok(Origin { address, prefix, endpoints, url: url.trim_end_matches('/').to_owned() })
    }

    /// Returns the URL as the settings have it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the host without its port.
    pub fn host(&self) -> &str {
        &self.address.host
    }

    /// Returns the target at the origin for a request to the relay, and the form of the request.
    pub(crate) fn target(&self, method: &Method, uri: &Uri) -> Result<(Uri, Form), Foreign> {
        // A target with a host is meant for another server.
        let is_ours = uri.authority().is_none() && uri.scheme().is_none();
        let path = uri.path();
        if !is_ours || !is_plain(path) {
            return Err(Foreign::Path);
        }
        let mut listed = self.endpoints.iter().filter(|endpoint| endpoint.has(path)).peekable();
        if listed.peek().is_none() {
            return Err(Foreign::Path);
        }
        if !listed.any(|endpoint| endpoint.takes(method)) {
            return Err(Foreign::Method);
        }
        let form = Form::of(method, path);
        if let Some(name) = uri.query().filter(|_| form.is_metered()).and_then(foreign_parameter) {
            return Err(Foreign::Parameter(name.to_owned()));
        }
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let target = format!("{}{path}{query}", self.prefix).parse().map_err(|_| Foreign::Path)?;
        Ok((target, form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(origin: &Origin, request: &str) -> Result<String, Foreign> {
        let (method, uri) = request.split_once(' ').unwrap();
        origin.target(&method.parse().unwrap(), &uri.parse().unwrap()).map(|(uri, _)| uri.to_string())
    }

    #[test]
    fn only_known_requests_are_forwarded() {
        let origin = Origin::parse("https://gateway.example/api/", &[]).unwrap();
        for good in [
            "POST /v1/messages?beta=true",
            "POST /v1/messages/count_tokens",
            "GET /v1/models?limit=100",
            "HEAD /v1/models/llama3:8b",
            "POST /v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        ] {
            let path = good.split_once(' ').unwrap().1;
            assert_eq!(target(&origin, good), Ok(format!("/api{path}")), "{good}");
        }
        for bad in [
            "GET /",
            "GET /v1/organizations",
            "POST /v1/messagesx",
            "POST /v1/messages/",
            "POST /v1/messages/batches",
            "POST /v1/messages/../organizations",
            "POST /v1/messages/%2E%2e/organizations",
            "POST /v1/messages/..%2forganizations",
            "POST /v1/message%73",
            "POST /v1//messages",
            "POST //v1/messages",
            "POST /v1/messages;x",
            "POST /V1/messages",
            "POST /v1/batches",
            "POST /v1/files",
            "POST /v1beta/models/a/b:generateContent",
            "POST //evil.example/v1/messages",
            "POST http://evil.example/v1/messages",
        ] {
            assert_eq!(target(&origin, bad), Err(Foreign::Path), "{bad}");
        }
        for bad in [
            "GET /v1/messages",
            "POST /v1/models",
            "DELETE /v1/models/mine",
            "GET /v1/responses",
            "POST /v1beta/models/a:batchGenerateContent",
        ] {
            assert_eq!(target(&origin, bad), Err(Foreign::Method), "{bad}");
        }
        let hidden = target(&origin, "POST /v1beta/models/a:generateContent?alt=sse&fields=candidates");
        assert_eq!(hidden, Err(Foreign::Parameter("fields".to_owned())));
    }

    #[test]
    fn listed_paths_replace_the_known_ones_and_are_exact() {
        let listed = ["/chat", "POST /openai/deployments/*/chat/completions", "/own/"].map(str::to_owned);
        let own = Origin::parse("https://gateway.example", &listed).unwrap();
        for good in ["POST /chat", "GET /chat", "POST /own", "POST /openai/deployments/a/chat/completions"] {
            assert!(target(&own, good).is_ok(), "{good}");
        }
        for bad in ["POST /v1/messages", "POST /chat/below", "POST /openai/deployments/a/b/chat/completions"] {
            assert_eq!(target(&own, bad), Err(Foreign::Path), "{bad}");
        }
        for bad in ["v1", "PUT /v1", "/v1/messages/batches", "/a/../b", "/a*/b*"] {
            assert!(Origin::parse("https://a.b", &[bad.to_owned()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_http_leads_only_to_this_computer() {
        assert!(Origin::parse("http://127.0.0.1:11434", &[]).is_ok());
        for bad in ["http://api.example.com", "ftp://x", "https://a.b/x?y", "https://a.b/x/../y", "https://me@a.b", ""]
        {
            assert!(Origin::parse(bad, &[]).is_err(), "{bad}");
        }
    }
}
