//! A relay between a client on loopback and a scripted server: the key, the token, the paths, the budget, the counts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use interlock_relay::{Client, Credential, Origin, Relay, Setup, Usage};
use interlock_testkit_activity::model_server::{End, ModelServer, Scripted};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const REPLY: &str = r#"{"content":[],"usage":{"input_tokens":70,"output_tokens":30}}"#;

async fn relay(server: &ModelServer, tokens_max: Option<u64>) -> Relay {
    let setup = Setup {
        origin: Origin::parse(&server.url, &[]).unwrap(),
        credential: Credential::new("x-api-key", "the-real-key").unwrap(),
        token: "token-of-the-attempt".to_owned(),
        tokens_max,
        client: Client::default(),
    };
    Relay::open(setup).await.unwrap()
}

fn server() -> ModelServer {
    ModelServer::saying(vec![Scripted::new(200, "application/json", REPLY)])
}

async fn send(relay: &Relay, text: &str) -> String {
    let mut stream = TcpStream::connect(relay.address()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    let read = stream.read_to_end(&mut said);
    tokio::time::timeout(Duration::from_secs(30), read).await.unwrap().unwrap();
    String::from_utf8(said).unwrap()
}

/// Sends a request that carries a token, and returns the whole answer.
async fn ask(relay: &Relay, line: &str, token: &str) -> String {
    let body = if line.starts_with("POST") { "{\"model\":\"m\"}" } else { "" };
    let head = format!("Host: 127.0.0.1\r\nx-api-key: {token}\r\nAccept-Encoding: gzip\r\nCookie: a=b\r\n");
    let length = body.len();
    send(relay, &format!("{line} HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}")).await
}

const TOKEN: &str = "token-of-the-attempt";

#[tokio::test]
async fn token_is_replaced_by_the_key_and_tokens_are_counted() {
    let server = server();
    let relay = relay(&server, None).await;
    let said = ask(&relay, "POST /v1/messages?beta=true", TOKEN).await;
    assert!(
        said.starts_with("HTTP/1.1 200") && said.contains("output_tokens") && !said.contains("the-real-key"),
        "{said}"
    );
    let asked = server.asked();
    assert_eq!(asked[0].line, "POST /v1/messages?beta=true HTTP/1.1");
    assert_eq!(asked[0].body["model"], "m");
    let header = |name: &str| asked[0].headers.get(name).map(String::as_str);
    assert_eq!((header("x-api-key"), header("accept-encoding")), (Some("the-real-key"), Some("identity")));
    assert_eq!((header("cookie"), header("host")), (None, Some(server.url.trim_start_matches("http://"))));
    let report = relay.close().await;
    assert_eq!(report.tokens, Usage { input: 70, output: 30, ..Usage::default() });
    assert_eq!((report.requests, report.refused, report.estimated_tokens), (1, 0, 0));
    let told = serde_json::to_string(&report).unwrap();
    assert!(told.contains("/v1/messages") && !told.contains("key") && !told.contains(TOKEN), "{told}");
}

#[tokio::test]
async fn wrong_token_other_paths_and_other_hosts_do_not_reach_the_server() {
    let server = server();
    let relay = relay(&server, None).await;
    let host = server.url.trim_start_matches("http://");
    for (line, token, status) in [
        ("POST /v1/messages", "wrong", "401"),
        ("POST /v1/messages", "", "401"),
        ("POST /v1/messages", "the-real-key", "401"),
        ("GET /v1/organizations/me", TOKEN, "404"),
        ("GET /v1/models/../organizations", TOKEN, "404"),
        ("GET /", TOKEN, "404"),
        (&format!("POST http://{host}/v1/messages"), TOKEN, "404"),
        (&format!("CONNECT {host}"), TOKEN, "404"),
        ("DELETE /v1/models/mine", TOKEN, "405"),
    ] {
        let said = ask(&relay, line, token).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {said}");
    }
    let report = relay.close().await;
    assert_eq!((report.refused, server.asked().len()), (9, 0));
}

#[tokio::test]
async fn spent_budget_refuses_the_next_request() {
    let server = server();
    let relay = relay(&server, Some(150)).await;
    for status in ["200", "200", "403"] {
        let said = ask(&relay, "POST /v1/messages", TOKEN).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{said}");
    }
    tokio::time::timeout(Duration::from_secs(5), relay.spent()).await.unwrap();
    assert_eq!((relay.tokens(), server.asked().len()), (200, 2));
}

#[tokio::test]
async fn stream_arrives_piece_by_piece_and_is_counted_when_it_breaks_off() {
    let start =
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n";
    let answer = Scripted::new(200, "text/event-stream", start).ending(End::Silent);
    let server = ModelServer::saying(vec![answer]);
    let relay = relay(&server, None).await;
    let mut stream = TcpStream::connect(relay.address()).await.unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server has not finished its answer, and the first event is here.
    let mut said = String::new();
    while !said.contains("message_start") {
        let mut part = [0; 1024];
        let read = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut part)).await.unwrap().unwrap();
        assert!(read > 0, "{said}");
        said.push_str(std::str::from_utf8(&part[..read]).unwrap());
    }
    let report = relay.close().await;
    assert_eq!(report.tokens, Usage { input: 25, output: 1, ..Usage::default() });
}

#[tokio::test]
async fn faults_of_the_server_are_told() {
    let server = ModelServer::saying(vec![
        Scripted::page(502),
        Scripted::new(200, "application/json", REPLY).with("content-encoding", "gzip"),
    ]);
    let relay = relay(&server, None).await;
    let said = ask(&relay, "POST /v1/messages", TOKEN).await;
    assert!(said.starts_with("HTTP/1.1 502") && said.contains("Bad Gateway"), "{said}");
    let said = ask(&relay, "POST /v1/messages", TOKEN).await;
    assert!(said.starts_with("HTTP/1.1 502") && said.contains("cannot be counted"), "{said}");
    drop(server);
    let said = ask(&relay, "POST /v1/messages", TOKEN).await;
    assert!(said.starts_with("HTTP/1.1 502"), "{said}");
    // Only the second request was worked on, and its tokens cannot be read.
    assert_eq!(relay.tokens(), 4);
}
