//! The files of the page. They are plain HTML, CSS and JavaScript modules in `page/`, embedded as they are.

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use rust_embed::RustEmbed;

use crate::problem::Problem;

/// The place in the page for the links to its modules.
const MODULES: &str = "<!-- modules -->\n";

#[derive(RustEmbed)]
#[folder = "page"]
struct Files;

/// Sends the page itself, which shows the view that the path names.
pub(crate) async fn index() -> Response {
    let Some(file) = Files::get("index.html") else { return send("index.html") };
    let text = String::from_utf8_lossy(&file.data).replace(MODULES, &preloads());
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}

/// Returns the links that let a browser fetch all modules at once, and not one after the import of the other.
fn preloads() -> String {
    let modules = Files::iter().filter(|path| path.ends_with(".js"));
    modules.map(|path| format!("<link rel=\"modulepreload\" href=\"/page/{path}\">\n")).collect()
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
    (headers, content(path, &file.data)).into_response()
}

/// Returns the content of a file as it is sent. Lines of comments in scripts are empty, so that positions in messages
/// of the browser stay those of the file.
fn content(path: &str, data: &[u8]) -> Vec<u8> {
    if !path.ends_with(".js") {
        return data.to_vec();
    }
    let is_comment = |line: &&[u8]| line.trim_ascii_start().starts_with(b"//");
    let lines = data.split(|byte| *byte == b'\n').map(|line| if is_comment(&line) { &b""[..] } else { line });
    lines.collect::<Vec<_>>().join(&b'\n')
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };

    use super::*;

    /// The most bytes of the whole page, compressed.
    const BYTES_MAX: usize = 64_000;

    fn compressed(data: Vec<u8>) -> usize {
        let mut gzip = Command::new("gzip").arg("-9c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = gzip.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(&data).unwrap());
        let length = gzip.wait_with_output().unwrap().stdout.len();
        writer.join().unwrap();
        length
    }

    #[test]
    fn the_page_is_small() {
        let sent = |path: &str| content(path, &Files::get(path).unwrap().data);
        let total: usize = Files::iter().map(|path| compressed(sent(&path))).sum();
        assert!(total > 30_000 && total < BYTES_MAX, "{total} bytes");
    }

    #[test]
    fn the_page_names_each_of_its_modules_once() {
        let page = Files::get("index.html").unwrap();
        assert!(String::from_utf8_lossy(&page.data).contains(MODULES));
        let links = preloads();
        assert!(links.lines().count() > 20 && links.contains("href=\"/page/views/run.js\""), "{links}");
    }

    #[test]
    fn comments_are_left_out_and_lines_keep_their_numbers() {
        let sent = content("x.js", b"// a\nconst a = '//';\n  // b\nf(a);");
        assert_eq!(sent, b"\nconst a = '//';\n\nf(a);");
        assert_eq!(content("x.css", b"// a"), b"// a");
    }
}
