//! A real proxy between real sockets on loopback.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{collections::BTreeMap, net::SocketAddr};

use interlock_proxy::{Allow, Names, Proxy, Service, Verdict};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Starts a server that answers each connection with its first line in upper case and then ends.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut said = vec![0; 4_096];
            let read = client.read(&mut said).await.unwrap_or(0);
            let line: Vec<u8> = said[..read].split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec();
            let _ = client.write_all(&line.to_ascii_uppercase()).await;
        }
    });
    address
}

struct Scene {
    proxy: Proxy,
    at: SocketAddr,
}

impl Scene {
    async fn new(entries: &[String]) -> Self {
        let names = [("inner.example.org", "127.0.0.1"), ("v6.example.org", "::1")];
        let names = names.map(|(name, address)| (name.to_owned(), vec![address.parse().unwrap()]));
        let proxy = Proxy::new(Allow::parse(entries).unwrap(), Names::Fixed(BTreeMap::from(names)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        proxy.serve(listener, Service::Proxy);
        Scene { proxy, at }
    }

    /// Sends a request to the proxy and returns the whole answer.
    async fn ask(&self, request: &str) -> String {
        let mut client = TcpStream::connect(self.at).await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Returns the destinations as `host:port verdict` in short.
    async fn seen(self) -> Vec<(String, Verdict)> {
        let all = self.proxy.finish().await;
        all.into_iter().map(|one| (format!("{}:{}", one.host, one.port), one.verdict)).collect()
    }
}

#[tokio::test]
async fn a_listed_host_is_reached_and_counted() {
    let server = server().await;
    let scene = Scene::new(&[server.to_string()]).await;
    let mut client = TcpStream::connect(scene.at).await.unwrap();
    client.write_all(format!("CONNECT {server} HTTP/1.1\r\nAuthorization: key\r\n\r\n").as_bytes()).await.unwrap();
    let established = "HTTP/1.1 200 Connection established\r\n\r\n";
    let mut answer = vec![0; established.len()];
    client.read_exact(&mut answer).await.unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), established);
    client.write_all(b"hello\n").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "HELLO");
    let seen = scene.proxy.finish().await;
    let [seen] = &seen[..] else { unreachable!("{seen:?}") };
    assert_eq!((seen.verdict, seen.connections, seen.sent_bytes, seen.received_bytes), (Verdict::Allowed, 1, 6, 5));
    assert!(!format!("{seen:?}").contains("key"));
}

#[tokio::test]
async fn a_plain_request_to_a_listed_host_is_passed_on() {
    let server = server().await;
    let scene = Scene::new(&[server.to_string()]).await;
    let answer = scene.ask(&format!("GET http://{server}/path HTTP/1.1\r\nHost: {server}\r\n\r\n")).await;
    assert_eq!(answer, "GET /PATH HTTP/1.1\r");
}

#[tokio::test]
async fn other_hosts_are_refused() {
    let server = server().await;
    let other = server.port() ^ 1;
    let scene = Scene::new(&[server.to_string()]).await;
    let port = server.port();
    let requests = [
        format!("CONNECT 127.0.0.1:{other} HTTP/1.1\r\n\r\n"),
        format!("CONNECT evil.example.org:{port} HTTP/1.1\r\n\r\n"),
        format!("CONNECT [::1]:{port} HTTP/1.1\r\n\r\n"),
        format!("GET http://127.0.0.2:{port}/ HTTP/1.1\r\nHost: {server}\r\n\r\n"),
        format!("GET http://evil.example.org/ HTTP/1.1\r\nHost: {server}\r\n\r\n"),
    ];
    for request in &requests {
        let answer = scene.ask(request).await;
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{request}{answer}");
        assert!(answer.ends_with("is not in the list of allowed hosts.\n"), "{answer}");
    }
    for request in ["GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), format!("CONNECT 127.1:{port} HTTP/1.1\r\n\r\n")] {
        assert!(scene.ask(&request).await.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{request}");
    }
    let seen = scene.seen().await;
    assert_eq!(seen.len(), 6);
    assert!(seen.iter().all(|(_, verdict)| matches!(verdict, Verdict::NotListed | Verdict::Invalid)), "{seen:?}");
}

#[tokio::test]
async fn a_name_that_leads_to_this_computer_is_refused_unless_that_is_meant() {
    let server = server().await;
    let port = server.port();
    let request = format!("GET http://inner.example.org:{port}/ HTTP/1.1\r\n\r\n");
    let scene = Scene::new(&[format!("inner.example.org:{port}"), format!("v6.example.org:{port}")]).await;
    let answer = scene.ask(&request).await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("leads into a private network"), "{answer}");
    assert!(scene.ask(&format!("CONNECT v6.example.org:{port} HTTP/1.1\r\n\r\n")).await.starts_with("HTTP/1.1 403"));
    assert!(scene.seen().await.iter().all(|(_, verdict)| *verdict == Verdict::Private));
    let scene = Scene::new(&[format!("private:inner.example.org:{port}")]).await;
    assert_eq!(scene.ask(&request).await, "GET / HTTP/1.1\r");
}

#[tokio::test]
async fn a_second_request_on_a_connection_does_not_leave_it() {
    let server = server().await;
    let scene = Scene::new(&[server.to_string()]).await;
    let first = format!("GET http://{server}/one HTTP/1.1\r\n\r\n");
    let answer = scene.ask(&format!("{first}GET http://evil.example.org/two HTTP/1.1\r\n\r\n")).await;
    assert_eq!(answer, "GET /ONE HTTP/1.1\r");
    let seen = scene.proxy.finish().await;
    assert_eq!(seen.len(), 1);
    let sent = format!("GET /one HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n");
    assert_eq!(seen[0].sent_bytes, sent.len() as u64, "the second request was not passed on");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let scene = Scene::new(&["example.org:443".to_owned()]).await;
    let answer = scene.ask(&format!("CONNECT example.org:443 HTTP/1.1\r\nA: {}", "x".repeat(70_000))).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_forwarded_port_needs_no_request() {
    let server = server().await;
    let scene = Scene::new(&[server.to_string()]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    scene.proxy.serve(listener, Service::Forward(server));
    let direct = Scene { at, ..scene };
    assert_eq!(direct.ask("hello\n").await, "HELLO");
    assert_eq!(direct.seen().await, [(server.to_string(), Verdict::Allowed)]);
}

#[tokio::test]
async fn connections_end_with_the_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = listener.local_addr().unwrap();
    let scene = Scene::new(&[silent.to_string()]).await;
    let mut client = TcpStream::connect(scene.at).await.unwrap();
    client.write_all(format!("CONNECT {silent} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (mut far, _) = listener.accept().await.unwrap();
    scene.proxy.finish().await;
    assert_eq!(far.read(&mut [0; 16]).await.unwrap_or(0), 0);
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    assert!(TcpStream::connect(scene.at).await.is_err());
}
