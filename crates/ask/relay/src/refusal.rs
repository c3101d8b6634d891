//! Requests that are not forwarded or not answered, told in the form of the API that the client speaks.

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Response, StatusCode,
    body::Bytes,
    header::{self, HeaderValue},
};
use serde_json::{Value as Json, json};

use crate::{endpoint::Dialect, forward::Answer};

/// A request that is not forwarded, or not answered.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) kind: &'static str,
    pub(crate) why: String,
    pub(crate) is_forwarded: bool,
}

/// Creates the refusal of a request that is not forwarded.
pub(crate) fn refusal(status: StatusCode, kind: &'static str, why: impl Into<String>) -> Refusal {
    Refusal { status, kind, why: why.into(), is_forwarded: false }
}

impl Refusal {
    /// Returns the reply of a refusal.
    pub(crate) fn answer(self, dialect: Dialect) -> Answer {
        let body = Full::new(Bytes::from(self.body(dialect).to_string())).map_err(|never| match never {});
        let mut answer = Response::new(body.boxed_unsync());
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        answer
    }

    fn body(&self, dialect: Dialect) -> Json {
        let (kind, why) = (self.kind, &self.why);
        match dialect {
            Dialect::OpenAi => json!({ "error": { "message": why, "type": kind, "param": null, "code": kind } }),
            Dialect::Google => {
                let status = match self.status {
                    StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
                    StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
                    StatusCode::FORBIDDEN => "PERMISSION_DENIED",
                    StatusCode::NOT_FOUND => "NOT_FOUND",
                    status if status.is_server_error() => "UNAVAILABLE",
                    _ => "INVALID_ARGUMENT",
                };
                json!({ "error": { "code": self.status.as_u16(), "message": why, "status": status } })
            }
            Dialect::Anthropic | Dialect::Any => {
                json!({ "type": "error", "error": { "type": kind, "code": kind, "message": why } })
            }
        }
    }
}
