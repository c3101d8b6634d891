//! Tests of `http.request` against a local server.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::mpsc,
    time::{Duration, Instant},
};

use interlock_activities::HttpRequest;
use interlock_activity::Activity;
use serde_json::{Value, json};

use crate::trial::{EndedAttempt, Trial};

/// Answers one request with these bytes, and sends the request through the channel.
fn serve(answer: impl Into<Vec<u8>>) -> (String, mpsc::Receiver<String>) {
    let (listener, answer) = (TcpListener::bind("127.0.0.1:0").unwrap(), answer.into());
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = read_request(&mut stream);
        let _ = stream.write_all(&answer);
        let _ = sender.send(request);
    });
    (url, asked)
}

/// Reads up to the end of the body that the header announces.
fn read_request(stream: &mut impl Read) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0usize) {
                return text;
            }
        }
        match stream.read(&mut buffer).unwrap_or(0) {
            0 => return text,
            read => bytes.extend(&buffer[..read]),
        }
    }
}

fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len()).as_bytes(), body].concat()
}

async fn run(with: Value) -> (Trial, EndedAttempt) {
    let trial = Trial::new(with);
    let ended = trial.run(HttpRequest::default()).await;
    (trial, ended)
}

#[tokio::test]
async fn a_request_is_sent_as_given_and_its_answer_told() {
    let body = br#"{"id": 7}"#;
    let (url, asked) =
        serve(response("201 Created", "content-type: application/json\r\nX-One: 1\r\nx-one: 2\r\n", body));
    let with =
        json!({ "method": "POST", "url": format!("{url}/a?b=c"), "headers": { "X-Token": "t" }, "json": { "n": 1 } });
    let (trial, ended) = run(with).await;
    assert_eq!(ended.name, "succeeded");
    let headers = json!({ "content-length": "9", "content-type": "application/json", "x-one": "1, 2" });
    assert_eq!(ended.data, json!({ "status": 201, "headers": headers, "body": "{\"id\": 7}", "json": { "id": 7 } }));
    assert_eq!(trial.evidence(&ended, "body").unwrap(), body);
    let asked = asked.recv().unwrap();
    assert!(asked.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{asked}");
    assert!(asked.ends_with("\r\n\r\n{\"n\":1}"), "{asked}");
    let host = format!("host: {}\r\n", url.trim_start_matches("http://"));
    for header in [host.as_str(), "x-token: t\r\n", "content-type: application/json\r\n", "content-length: 7\r\n"] {
        assert!(asked.contains(header), "{header} is not in {asked}");
    }
}

#[tokio::test]
async fn the_status_decides() {
    let cases = [
        ("200 OK", json!(null), "succeeded"),
        ("204 No Content", json!(null), "succeeded"),
        ("302 Found", json!(null), "failed"),
        ("404 Not Found", json!(null), "failed"),
        ("503 Busy", json!(null), "failed"),
        ("404 Not Found", json!([200, 404]), "succeeded"),
        ("204 No Content", json!([200]), "failed"),
    ];
    for (status, ok_status, name) in cases {
        let (url, _) = serve(response(status, "location: http://127.0.0.1:1/\r\n", b""));
        let (_, ended) = run(json!({ "url": url, "ok_status": ok_status })).await;
        assert_eq!(ended.name, name, "{status} {ok_status}");
        assert_eq!(ended.outcome.evidence, []);
    }
}

#[tokio::test]
async fn a_body_that_is_big_or_no_text_is_evidence_only() {
    for body in [vec![b'x'; 200_000], vec![0xff, 0xfe, 0]] {
        let (url, _) = serve(response("200 OK", "", &body));
        let (trial, ended) = run(json!({ "url": url })).await;
        assert_eq!((ended.name.as_str(), &ended.data["body"]), ("succeeded", &json!(null)));
        assert_eq!(trial.evidence(&ended, "body").unwrap(), body);
    }
}

#[tokio::test]
async fn pieces_make_a_whole() {
    let answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
    let (url, _) = serve(answer);
    assert_eq!(run(json!({ "url": url })).await.1.data["body"], "hello world");
    let (url, _) = serve("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    assert_eq!(run(json!({ "url": url })).await.1.data["body"], "until the end");
}

#[tokio::test]
async fn what_goes_wrong_has_its_code() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (cut_off, _) = serve("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
    let (nonsense, _) = serve("what?\r\n\r\n");
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let plain_url = format!("https://{}", plain.local_addr().unwrap());
    std::thread::spawn(move || plain.accept().unwrap().0.write_all(b"this is not TLS"));
    let cases = [
        (format!("http://{closed}"), "UNREACHABLE", "could not be reached"),
        (plain_url, "UNREACHABLE", "could not be reached"),
        (cut_off, "FAILED", "invalid answer"),
        (nonsense, "FAILED", "invalid answer"),
    ];
    for (url, code, message) in cases {
        let (found_code, found) = run(json!({ "url": url })).await.1.error();
        assert_eq!(found_code, code, "{url}: {found}");
        assert!(found.contains(message), "{url}: {found}");
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_named() {
    let url = "http://localhost:1/";
    let cases = [
        (json!({}), "`with.url` is missing"),
        (json!({ "url": "example.com" }), "`with.url` must begin with http:// or https://"),
        (json!({ "url": "http://u:p@localhost" }), "`with.url` must not contain a user name or password"),
        (json!({ "url": url, "method": "A B" }), "`with.method` is not the name of a method: `A B`"),
        (
            json!({ "url": url, "headers": { "a b": "" } }),
            "`with.headers` has a name or value that cannot be sent: `a b`",
        ),
        (
            json!({ "url": url, "headers": { "a": "x\ny" } }),
            "`with.headers` has a name or value that cannot be sent: `a`",
        ),
        (json!({ "url": url, "body": "x", "json": 1 }), "`with.json` cannot be given together with `with.body`"),
        (json!({ "url": url, "body": 1 }), "`with.body` must be a string, not 1"),
        (json!({ "url": url, "ok_status": 200 }), "`with.ok_status` must be a list of whole numbers, not 200"),
        (json!({ "url": url, "timeout": 1 }), "`with.timeout` is not known"),
    ];
    for (with, message) in cases {
        let (code, found) = run(with.clone()).await.1.error();
        assert_eq!(code, "BAD_INPUT", "{with}");
        assert!(found.starts_with(message), "{with}: {found}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let begun = Instant::now();
    let error = run(json!({ "url": url, "timeout_s": 0.2 })).await.1.error();
    assert_eq!(error, ("TIMEOUT".into(), "there was no complete answer within 0.2 seconds".into()));
    let trial = Trial::new(json!({ "url": url }));
    let running = tokio::spawn(HttpRequest::default().start(trial.attempt.clone()));
    let _accepted = silent.accept().unwrap();
    trial.canceller.cancel();
    assert_eq!(EndedAttempt::new(running.await.unwrap()).error().0, "CANCELLED");
    assert!(begun.elapsed() < Duration::from_secs(10));
}
