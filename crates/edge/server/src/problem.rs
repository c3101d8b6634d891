//! The failure of a request: a status, a code for programs, a message and the next action for people.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

/// The result of a request.
pub type Result<T, E = Problem> = std::result::Result<T, E>;

/// The reason for which a request failed.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl Problem {
    /// A request that is not valid: the caller must change it.
    pub fn bad_input(message: impl ToString) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "BAD_INPUT", message)
    }

    /// A request that is valid but cannot be carried out now.
    pub fn refused(message: impl ToString) -> Self {
        Problem::new(StatusCode::CONFLICT, "REFUSED", message)
    }

    /// A request for something that does not exist.
    pub fn not_found(message: impl ToString) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    }

    /// A failure of the server itself, such as a full disk.
    pub fn failed(message: impl ToString) -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "FAILED", message)
    }

    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl ToString) -> Self {
        Problem { status, code, message: message.to_string(), hint: None }
    }

    /// Adds the next action.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Problem { hint: Some(hint.into()), ..self }
    }

    fn maybe_hint(self, hint: Option<String>) -> Self {
        Problem { hint, ..self }
    }

    /// Returns true if the caller must change the request, and false if the server failed.
    pub fn is_of_caller(&self) -> bool {
        self.status.is_client_error()
    }

    /// Returns the next action for people, if there is one.
    pub fn next_action(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the message for people.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code, "message": self.message, "hint": self.hint } });
        (self.status, Json(body)).into_response()
    }
}

impl From<interlock_journal::Error> for Problem {
    fn from(error: interlock_journal::Error) -> Self {
        use interlock_journal::Error;
        let hint = error.hint().map(str::to_owned);
        match &error {
            Error::NoRun(_) => Problem::not_found(&error),
            Error::Exists(_) => Problem::refused(&error),
            _ => Problem::failed(&error),
        }
        .maybe_hint(hint)
    }
}

impl From<interlock_runtime::Error> for Problem {
    fn from(error: interlock_runtime::Error) -> Self {
        use interlock_runtime::Error;
        let hint = error.hint();
        match error {
            Error::Journal(error) => error.into(),
            Error::Input(_) | Error::Machine(_) | Error::Project(_) => Problem::bad_input(&error).maybe_hint(hint),
            Error::Refused(_) | Error::Unproved { .. } | Error::NoAnswer { .. } | Error::Undo(_) => {
                Problem::refused(&error).maybe_hint(hint)
            }
            Error::State { .. } => Problem::failed(&error).maybe_hint(hint),
        }
    }
}
