//! The token that the agent sends, and the key that takes its place.

use std::fmt;

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

/// The headers in which agents send their key. All are removed from a request.
const KEY_HEADERS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

const BEARER: &str = "Bearer ";

/// A key and the header that it goes into.
#[derive(Clone)]
pub struct Credential {
    header: HeaderName,
    value: HeaderValue,
}

impl fmt::Debug for Credential {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Credential").field("header", &self.header).finish_non_exhaustive()
    }
}

impl Credential {
    /// Creates a credential. In the header `Authorization` the key follows the word `Bearer`.
    pub fn new(header: &str, key: &str) -> Result<Self, String> {
        let header: HeaderName = header.parse().map_err(|_| format!("`{header}` is not the name of a header"))?;
        let text = if header == AUTHORIZATION { format!("{BEARER}{key}") } else { key.to_owned() };
        let mut value =
            HeaderValue::from_str(&text).map_err(|_| "the key has a sign that no header can contain".to_owned())?;
        value.set_sensitive(true);
        Ok(Credential { header, value })
    }

    /// Removes everything from the headers that a client could authenticate with, and adds the key.
    pub(crate) fn replace(&self, headers: &mut HeaderMap) {
        for name in KEY_HEADERS {
            headers.remove(name);
        }
        headers.insert(self.header.clone(), self.value.clone());
    }
}

/// Returns true if a request carries the token.
pub(crate) fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let values = KEY_HEADERS.iter().flat_map(|name| headers.get_all(*name));
    let mut given = values.map(HeaderValue::as_bytes);
    given.any(|given| is_same(given.strip_prefix(BEARER.as_bytes()).unwrap_or(given), token.as_bytes()))
}

/// Compares in a time that does not depend on the first difference.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_takes_the_place_of_the_token() {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", HeaderValue::from_static("token"));
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer other"));
        assert!(has_token(&headers, "token") && has_token(&headers, "other"));
        assert!(!has_token(&headers, "toke") && !has_token(&headers, "") && !has_token(&headers, "Bearer other"));
        let credential = Credential::new("Authorization", "secret").unwrap();
        credential.replace(&mut headers);
        assert_eq!((headers.len(), headers[AUTHORIZATION].to_str().unwrap()), (1, "Bearer secret"));
        assert!(!format!("{credential:?} {headers:?}").contains("secret"));
        assert!(Credential::new("x-api-key", "a\nb").is_err() && Credential::new("a b", "k").is_err());
    }
}
