//! A relay with a token budget, and clients that try to use more: at once, through other requests, by breaking off.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use interlock_relay::{Client, Credential, Origin, Relay, Setup};
use interlock_testkit_activity::model_server::{End, ModelServer, ReceivedRequest, Scripted};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};

const TOKEN: &str = "token-of-the-attempt";

async fn relay(server: &ModelServer, tokens_max: u64) -> Relay {
    let setup = Setup {
        origin: Origin::parse(&server.url, &[]).unwrap(),
        credential: Credential::new("x-api-key", "the-real-key").unwrap(),
        token: TOKEN.to_owned(),
        tokens_max: Some(tokens_max),
        client: Client::default(),
    };
    Relay::open(setup).await.unwrap()
}

/// A server whose replies are as long as they may be.
fn greedy() -> ModelServer {
    ModelServer::start(|_, asked: &ReceivedRequest| {
        let limit = ["max_tokens", "max_output_tokens", "max_completion_tokens"];
        let gemini = asked.body["generationConfig"]["maxOutputTokens"].as_u64();
        let limit = limit.iter().find_map(|name| asked.body[name].as_u64()).or(gemini).unwrap_or(100_000);
        let replies = asked.body["n"].as_u64().unwrap_or(1);
        let usage = json!({ "usage": { "input_tokens": 10, "output_tokens": limit * replies } });
        Scripted::new(200, "application/json", usage.to_string())
    })
}

fn head(line: &str, more: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: a\r\nx-api-key: {TOKEN}\r\nConnection: close\r\n{more}\r\n")
}

async fn open(address: std::net::SocketAddr, text: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text).await.unwrap();
    stream
}

async fn send(address: std::net::SocketAddr, text: Vec<u8>) -> String {
    let mut stream = open(address, &text).await;
    let mut said = Vec::new();
    let read = stream.read_to_end(&mut said);
    tokio::time::timeout(Duration::from_secs(60), read).await.unwrap().unwrap();
    String::from_utf8_lossy(&said).into_owned()
}

async fn ask(address: std::net::SocketAddr, line: &str, body: &Json) -> String {
    let body = body.to_string();
    send(address, (head(line, &format!("Content-Length: {}\r\n", body.len())) + &body).into_bytes()).await
}

fn status(said: &str) -> &str {
    said.get(9..12).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_requests_at_once_do_not_use_more_than_the_budget() {
    let server = greedy();
    let relay = relay(&server, 5_000).await;
    let mut clients = JoinSet::new();
    for _ in 0..60 {
        let address = relay.address();
        clients.spawn(async move { ask(address, "POST /v1/messages", &json!({ "max_tokens": 900 })).await });
    }
    let said = clients.join_all().await;
    let good = said.iter().filter(|said| status(said) == "200").count();
    assert!((5..=6).contains(&good), "{good} replies");
    assert!(said.iter().all(|said| status(said) == "200" || said.contains("budget_spent")), "{said:?}");
    assert!(relay.tokens() <= 5_100 && relay.is_spent(), "{} tokens", relay.tokens());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_above_the_rest_of_the_budget_is_lowered_in_every_form() {
    for (line, body, place) in [
        ("POST /v1/messages", json!({ "max_tokens": 64_000 }), "/max_tokens"),
        ("POST /v1/chat/completions", json!({ "n": 2 }), "/max_completion_tokens"),
        ("POST /v1/responses", json!({ "max_output_tokens": 9_999_999 }), "/max_output_tokens"),
        ("POST /v1beta/models/m:generateContent", json!({}), "/generationConfig/maxOutputTokens"),
    ] {
        let server = greedy();
        let relay = relay(&server, 5_000).await;
        let said = ask(relay.address(), line, &body).await;
        assert_eq!(status(&said), "200", "{line}: {said}");
        let limit = server.asked()[0].body.pointer(place).and_then(Json::as_u64).unwrap();
        let replies = body["n"].as_u64().unwrap_or(1);
        assert!((4_900..=5_000).contains(&(limit * replies)), "{line}: {limit}");
        assert!(relay.tokens() <= 5_010, "{line}: {}", relay.tokens());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_no_reply_counts_does_not_reach_the_server() {
    let server = greedy();
    let relay = relay(&server, 5_000).await;
    let batch = json!({ "requests": [{ "custom_id": "a", "params": { "max_tokens": 50_000 } }] });
    for (line, body, expected) in [
        ("POST /v1/messages/batches", &batch, "404"),
        ("POST /v1/batches", &batch, "404"),
        ("POST /v1/files", &batch, "404"),
        ("POST /v1beta/models/m:batchGenerateContent", &batch, "405"),
        ("POST /v1/responses", &json!({ "background": true }), "400"),
        ("POST /v1/chat/completions", &json!({ "max_tokens": 9, "n": 100_000 }), "400"),
        ("POST /v1/messages", &json!({ "max_tokens": 9, "Max_Tokens": 90_000 }), "400"),
        ("POST /v1beta/models/m:generateContent?fields=candidates", &json!({}), "400"),
        ("POST /v1//messages", &json!({ "max_tokens": 9 }), "404"),
        ("POST /v1/%6dessages", &json!({ "max_tokens": 9 }), "404"),
    ] {
        let said = ask(relay.address(), line, body).await;
        assert_eq!(status(&said), expected, "{line}: {said}");
    }
    let packed = head("POST /v1/messages", "Content-Encoding: gzip\r\nContent-Length: 2\r\n") + "{}";
    assert_eq!(status(&send(relay.address(), packed.into_bytes()).await), "415");
    assert_eq!((server.asked().len(), relay.tokens()), (0, 0));
    let report = relay.close().await;
    assert!(report.calls.iter().any(|call| call.path == "/v1/messages/batches" && call.status == 404), "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counting_tokens_costs_none() {
    let server = greedy();
    let relay = relay(&server, 5_000).await;
    for line in ["POST /v1/messages/count_tokens", "POST /v1beta/models/m:countTokens", "GET /v1/models"] {
        let said = ask(relay.address(), line, &json!({ "max_tokens": 90_000 })).await;
        assert_eq!(status(&said), "200", "{line}: {said}");
    }
    assert_eq!((server.asked().len(), relay.tokens()), (3, 0));
}

/// Two requests in one body: a server that believes the other of the two lengths would see the second one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_two_lengths_reaches_the_server_as_one_or_not_at_all() {
    let server = greedy();
    let relay = relay(&server, 5_000).await;
    let inner = "POST /v1/messages/batches HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
    let body = format!("2\r\n{{}}\r\n0\r\n\r\n{inner}");
    for lengths in [
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", body.len()),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", body.len()),
        "Content-Length: 2\r\nContent-Length: 90\r\n".to_owned(),
    ] {
        send(relay.address(), (head("POST /v1/messages", &lengths) + &body).into_bytes()).await;
    }
    let lines: Vec<_> = server.asked().into_iter().map(|asked| asked.line).collect();
    assert!(lines.iter().all(|line| line == "POST /v1/messages HTTP/1.1"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_wait_for_its_reply_is_charged_in_full() {
    let server = ModelServer::start(|_, _| Scripted::new(200, "application/json", "{").ending(End::Silent));
    let relay = relay(&server, 5_000).await;
    let body = json!({ "max_tokens": 3_000 }).to_string();
    let text = head("POST /v1/messages", &format!("Content-Length: {}\r\n", body.len())) + &body;
    let mut stream = open(relay.address(), text.as_bytes()).await;
    // The head of the reply is here, so the server works.
    assert!(stream.read(&mut [0; 64]).await.unwrap() > 0);
    drop(stream);
    tokio::time::timeout(Duration::from_secs(30), async {
        while relay.tokens() < 3_000 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    assert!(relay.tokens() < 3_100, "{}", relay.tokens());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_of_an_error_gives_its_tokens_back() {
    let server = ModelServer::start(|_, _| Scripted::page(500));
    let relay = relay(&server, 5_000).await;
    for _ in 0..5 {
        assert_eq!(status(&ask(relay.address(), "POST /v1/messages", &json!({ "max_tokens": 4_500 })).await), "500");
    }
    assert_eq!((relay.tokens(), relay.is_spent()), (0, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_has_the_form_of_the_api() {
    let server = greedy();
    let relay = relay(&server, 100).await;
    let long = "word ".repeat(1_000);
    let messages = ask(relay.address(), "POST /v1/messages", &json!({ "max_tokens": 9, "system": long })).await;
    assert!(messages.contains(r#"{"type":"error","error":{"type":"budget_spent""#), "{messages}");
    let chat = ask(relay.address(), "POST /v1/chat/completions", &json!({ "messages": long })).await;
    assert!(chat.contains(r#""param":null,"code":"budget_spent""#), "{chat}");
    let google = ask(relay.address(), "POST /v1beta/models/m:generateContent", &json!({ "contents": long })).await;
    assert!(google.contains(r#""status":"PERMISSION_DENIED""#), "{google}");
    assert_eq!(server.asked().len(), 0);
}
