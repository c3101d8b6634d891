//! Evidence files, reports and the output of running activities. A browser must never interpret them: they are sent as
//! attachments, in a sandbox, with the type that they were stored with or as plain text.

use std::io::{Read as _, Seek as _, SeekFrom};

use axum::{
    Json,
    body::Body,
    extract::{Path, State as Extracted},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use interlock_journal::{Evidence, Head};
use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;

use crate::{
    app::{App, State, blocking},
    problem::{Problem, Result},
};

/// The most bytes of the output of an activity that are shown.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// No script, no form, no request from whatever the file contains.
const SANDBOX: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Lists the evidence files of a run.
pub(super) async fn list(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let files = of_run(app, &app.head(&run)?)?;
        let row = |(seq, file): &(u64, Evidence)| {
            json!({ "seq": seq, "name": file.name, "hash": file.hash, "media": file.media, "bytes": file.bytes })
        };
        Ok(Json(json!({ "run": run, "files": files.iter().map(row).collect::<Vec<_>>() })))
    })
    .await
}

/// Returns the files that the records of a run refer to.
fn of_run(app: &App, head: &Head) -> Result<Vec<(u64, Evidence)>> {
    let mut found = Vec::new();
    interlock_follow::with_evidence(&**app.engine(), head, 0, |record, entry| {
        found.extend(entry.evidence().iter().map(|file| (record.seq, file.clone())));
    })?;
    Ok(found)
}

/// Sends an evidence file of a run. A file is found only through a run, so that a hash alone gives no access.
pub(super) async fn send(
    Extracted(app): Extracted<State>,
    Path((run, hash)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response> {
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).map(str::to_owned);
    blocking(&app, move |app| {
        let head = app.head(&run)?;
        let missing = || Problem::not_found(format!("{run} has no evidence {hash}"));
        let is_meant = |(_, file): &(u64, Evidence)| file.hash.to_string() == hash;
        let (_, file) = of_run(app, &head)?.into_iter().find(is_meant).ok_or_else(missing)?;
        let content = app.engine().evidence().get(&file.hash)?;
        Ok(attachment(&file.name, shown_as(&file.media), content, range.as_deref()))
    })
    .await
}

/// Returns the type that a file is sent with. Types that a browser interprets are sent as text.
fn shown_as(media: &str) -> &str {
    let kind = media.split(';').next().unwrap_or_default().trim();
    match kind {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/json" | "application/octet-stream" => {
            kind
        }
        _ if kind.starts_with("text/") || kind.ends_with("+xml") || kind.ends_with("+json") => {
            "text/plain; charset=utf-8"
        }
        _ => "application/octet-stream",
    }
}

pub(super) fn attachment(name: &str, media: &str, content: Vec<u8>, range: Option<&str>) -> Response {
    let length = content.len();
    let part = range.map(|range| bytes_of(range, length));
    let (status, content, place) = match part {
        None => (StatusCode::OK, content, None),
        Some(Some((from, to))) => {
            let place = format!("bytes {from}-{to}/{length}");
            (StatusCode::PARTIAL_CONTENT, content[from..=to].to_vec(), Some(place))
        }
        Some(None) => (StatusCode::RANGE_NOT_SATISFIABLE, Vec::new(), Some(format!("bytes */{length}"))),
    };
    let mut response = (status, Body::from(content)).into_response();
    let headers = response.headers_mut();
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' })
        .collect();
    let value = |text: &str| HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static(""));
    headers.insert(header::CONTENT_TYPE, value(media));
    headers.insert(header::CONTENT_DISPOSITION, value(&format!("attachment; filename=\"{plain}\"")));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Some(place) = place {
        headers.insert(header::CONTENT_RANGE, value(&place));
    }
    response
}

/// Returns the first and last byte of a range; `None` if the file has no such bytes. Several ranges are not supported.
fn bytes_of(range: &str, length: usize) -> Option<(usize, usize)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last = length.checked_sub(1)?;
    let (from, to) = match (from.trim(), to.trim()) {
        ("", count) => (length.saturating_sub(count.parse().ok()?), last),
        (from, "") => (from.parse().ok()?, last),
        (from, to) => (from.parse().ok()?, to.parse::<usize>().ok()?.min(last)),
    };
    (from <= to).then_some((from, to))
}

/// Sends the report of a run.
pub(super) async fn report(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Response> {
    let _turn = turn(&app).await?;
    blocking(&app, move |app| {
        let html = app.services.report(&app.head(&run)?)?;
        Ok(attachment(&format!("{run}.html"), "text/html; charset=utf-8", html.into_bytes(), None))
    })
    .await
}

/// Shows the first sentence and the sections of the report of a run.
pub(super) async fn report_sections(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Json<Value>> {
    let _turn = turn(&app).await?;
    blocking(&app, move |app| Ok(Json(app.services.report_sections(&app.head(&run)?)?))).await
}

/// Waits until few enough other reports are made: each can hold a whole run and a notebook in memory.
async fn turn(app: &App) -> Result<SemaphorePermit<'_>> {
    app.reports.acquire().await.map_err(|_| Problem::failed("the server is ending"))
}

/// Shows the end of the output of running activities.
pub(super) async fn output(Extracted(app): Extracted<State>, Path(run): Path<String>) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        app.head(&run)?;
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&app.live_folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_of_run =
                name.strip_prefix(&run).is_some_and(|rest| rest.starts_with("-a") && rest.ends_with(".log"));
            if let Some((text, bytes)) = is_of_run.then(|| tail(&entry.path())).flatten() {
                files.push(json!({ "file": name, "text": text, "bytes": bytes }));
            }
        }
        Ok(Json(json!({ "run": run, "outputs": files })))
    })
    .await
}

fn tail(path: &std::path::Path) -> Option<(String, u64)> {
    let mut file = std::fs::File::open(path).ok()?;
    let bytes = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(OUTPUT_BYTES_MAX))).ok()?;
    let mut content = Vec::new();
    file.take(OUTPUT_BYTES_MAX).read_to_end(&mut content).ok()?;
    Some((String::from_utf8_lossy(&content).into_owned(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_http_defines_them() {
        let cases = [
            ("bytes=0-3", Some((0, 3))),
            ("bytes=8-", Some((8, 9))),
            ("bytes=-4", Some((6, 9))),
            ("bytes=-40", Some((0, 9))),
            ("bytes=5-400", Some((5, 9))),
            ("bytes=10-12", None),
            ("bytes=3-1", None),
            ("lines=1-2", None),
            ("bytes=a-b", None),
        ];
        for (range, expected) in cases {
            assert_eq!(bytes_of(range, 10), expected, "{range}");
        }
        assert_eq!(bytes_of("bytes=0-", 0), None);
    }

    #[test]
    fn the_name_of_a_file_cannot_add_headers_or_leave_its_quotes() {
        let sent = attachment("a\"; filename=\"x.html\r\nX-Bad: 1\u{2028}ä/../b", "text/plain", b"x".to_vec(), None);
        let given = sent.headers().get(header::CONTENT_DISPOSITION).and_then(|value| value.to_str().ok());
        assert_eq!(given, Some("attachment; filename=\"a___filename__x.html__X-Bad__1___.._b\""));
        assert!(sent.headers().get("x-bad").is_none());
    }

    #[test]
    fn a_browser_gets_no_type_that_it_would_interpret() {
        for media in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/html; charset=utf-8"] {
            assert_eq!(shown_as(media), "text/plain; charset=utf-8", "{media}");
        }
        assert_eq!(shown_as("application/javascript"), "application/octet-stream");
        assert_eq!(shown_as("image/png"), "image/png");
    }
}
