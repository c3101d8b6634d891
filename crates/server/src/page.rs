//! The files of the page. They are plain HTML, CSS and JavaScript modules in `page/`, embedded as they are.

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use rust_embed::RustEmbed;

use crate::problem::Problem;

#[derive(RustEmbed)]
#[folder = "page"]
struct Files;

/// Sends the page itself, which shows the view that the path names.
pub(crate) async fn index() -> Response {
    send("index.html")
}

/// Sends a file of the page.
pub(crate) async fn file(Path(path): Path<String>) -> Response {
    send(&path)
}

/// Sends the style of the pictures of machines.
pub(crate) async fn picture_style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], interlock_draw::page_style()).into_response()
}

fn send(path: &str) -> Response {
    let Some(file) = Files::get(path) else {
        return Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", "the page has no such file").into_response();
    };
    let media = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    };
    let headers = [(header::CONTENT_TYPE, media), (header::CACHE_CONTROL, "no-cache")];
    (headers, file.data.into_owned()).into_response()
}
