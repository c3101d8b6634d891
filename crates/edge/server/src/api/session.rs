//! Logging in and out of the page.

use axum::{
    Extension, Json,
    extract::State as Extracted,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Body, Sender};
use crate::{
    app::State,
    guard::{self, COOKIE},
    problem::{Problem, Result},
};

/// A login code, which was in the fragment of the link, or a token that a person typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(super) enum Login {
    Code(String),
    Token(String),
}

/// Shows the sender.
pub(super) async fn show(Extension(identity): Sender) -> Json<Value> {
    Json(json!({ "name": identity.name, "role": identity.role }))
}

/// Exchanges a code or a token for a session.
pub(super) async fn log_in(Extracted(app): Extracted<State>, Body(login): Body<Login>) -> Result<Response> {
    let found = match &login {
        Login::Code(code) => app.access.log_in(code)?,
        Login::Token(token) => app.access.log_in_with_token(token)?,
    };
    let Some((session, identity)) = found else {
        if !app.failures.allows("login") {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_REQUESTS", "too many failed logins"));
        }
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "UNAUTHORIZED",
            "the link or the token is not valid (any more)",
        )
        .hint("log in with a token: `interlock token add NAME --role operator` makes one"));
    };
    let json = Json(json!({ "name": identity.name, "role": identity.role }));
    Ok(([(header::SET_COOKIE, cookie(&app, &session, ""))], json).into_response())
}

/// Ends the session.
pub(super) async fn log_out(Extracted(app): Extracted<State>, headers: HeaderMap) -> Result<Response> {
    if let Some(session) = guard::session(&headers) {
        app.access.log_out(session)?;
    }
    Ok(([(header::SET_COOKIE, cookie(&app, "", "; Max-Age=0"))], Json(json!({}))).into_response())
}

fn cookie(app: &State, session: &str, more: &str) -> String {
    // Behind a proxy the page is served over TLS only.
    let secure = if app.listen.origin.is_some() { "; Secure" } else { "" };
    format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict{secure}{more}")
}
