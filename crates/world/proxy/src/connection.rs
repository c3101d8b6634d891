//! One connection of the program: reads what it wants, checks it, connects to the checked address and relays.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    allow::Host,
    head::{Body, Head, Kind},
    log::Verdict,
    proxy::{Names, Shared},
    relay::relay,
};

/// The longest head of a request.
const HEAD_BYTES_MAX: usize = 64 * 1_024;

/// The longest time in which a program sends the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// The longest time for resolving a name, and for connecting to one address.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// Maximum number of addresses of one name that are tried.
const ADDRESSES_MAX: usize = 8;

/// Maximum number of bytes that are read of a refused request, and the time for it, so that the answer arrives.
const REFUSED_BYTES_MAX: u64 = 1_024 * 1_024;
const REFUSED_TIME: Duration = Duration::from_secs(2);

/// Connects a program to a listed address, byte for byte.
pub(crate) async fn forward(client: TcpStream, to: SocketAddr, shared: &Shared) {
    let (host, port) = (Host::Address(to.ip()), to.port());
    if let Ok(server) = connect(&host, port, shared).await {
        let counts = shared.log.note(&host.to_string(), port, Verdict::Allowed);
        relay(client, server, b"", u64::MAX, &counts).await;
    }
}

/// Handles one request to the proxy. A client that wants another host connects again.
pub(crate) async fn request(mut client: TcpStream, shared: &Shared) {
    let read = timeout(HEAD_TIME, read_head(&mut client)).await;
    let (bytes, length) = match read {
        Ok(Ok(Some(head))) => head,
        Ok(Ok(None)) => {
            shared.log.note("", 0, Verdict::Invalid);
            return refuse(client, "431 Request Header Fields Too Large", "The head of the request is too long.").await;
        }
        // The client is gone or too slow.
        Ok(Err(_)) | Err(_) => return,
    };
    let (head, begun) = bytes.split_at(length);
    let Some(Head { host, port, kind }) = Head::parse(head) else {
        shared.log.note("", 0, Verdict::Invalid);
        let why = "Use CONNECT host:port, or a method with a URL that begins with http://.";
        return refuse(client, "400 Bad Request", why).await;
    };
    match connect(&host, port, shared).await {
        Err((status, why)) => refuse(client, status, &why).await,
        Ok(server) => pass(client, server, kind, begun, (&host, port), shared).await,
    }
}

async fn pass(
    mut client: TcpStream,
    mut server: TcpStream,
    kind: Kind,
    begun: &[u8],
    (host, port): (&Host, u16),
    shared: &Shared,
) {
    let counts = shared.log.note(&host.to_string(), port, Verdict::Allowed);
    let (sent, sent_max) = match kind {
        Kind::Connect => (client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await, u64::MAX),
        Kind::Http { head, body } => {
            counts.sent.fetch_add(head.len() as u64, std::sync::atomic::Ordering::Relaxed);
            let sent_max = match body {
                Body::Bytes(length) => length.min(u64::MAX - 1),
                Body::Chunks => u64::MAX - 1,
            };
            (server.write_all(&head).await, sent_max)
        }
    };
    if sent.is_ok() {
        relay(client, server, begun, sent_max, &counts).await;
    }
}

/// Reads until the end of a head. Returns the bytes and the length of the head, or `None` if the head is too long.
async fn read_head(client: &mut TcpStream) -> io::Result<Option<(Vec<u8>, usize)>> {
    let mut bytes = Vec::new();
    let mut part = vec![0; 4 * 1_024];
    while bytes.len() <= HEAD_BYTES_MAX {
        let read = client.read(&mut part).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The end can lie across two parts.
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&part[..read]);
        if let Some(length) = end_of_head(&bytes[from..]) {
            return Ok(Some((bytes, from + length)));
        }
    }
    Ok(None)
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let at = |end: &[u8]| bytes.windows(end.len()).position(|window| window == end).map(|at| at + end.len());
    [at(b"\r\n\r\n"), at(b"\n\n")].into_iter().flatten().min()
}

/// The status and the text of a refusal.
type Refusal = (&'static str, String);

/// Connects to a host if it is listed, to an address that was checked.
async fn connect(host: &Host, port: u16, shared: &Shared) -> Result<TcpStream, Refusal> {
    let refused = |verdict, status, why: &str| {
        shared.log.note(&host.to_string(), port, verdict);
        (status, format!("{host}:{port} {why}"))
    };
    if !shared.allow.has(host, port) {
        return Err(refused(Verdict::NotListed, "403 Forbidden", "is not in the list of allowed hosts."));
    }
    let unreachable = |why: &str| refused(Verdict::Unreachable, "502 Bad Gateway", why);
    let addresses = match host {
        Host::Address(address) => vec![SocketAddr::new(*address, port)],
        Host::Name(name) => {
            let found = resolve(name, port, &shared.names).await;
            if found.is_empty() {
                return Err(unreachable("has no address."));
            }
            shared.allow.permitted(name, found)
        }
    };
    if addresses.is_empty() {
        let why = "leads into a private network. List it with `private:` before its name to allow this.";
        return Err(refused(Verdict::Private, "403 Forbidden", why));
    }
    for address in addresses.into_iter().take(ADDRESSES_MAX) {
        if let Ok(Ok(server)) = timeout(CONNECT_TIME, TcpStream::connect(address)).await {
            let _ = server.set_nodelay(true);
            return Ok(server);
        }
    }
    Err(unreachable("could not be reached."))
}

async fn resolve(name: &str, port: u16, names: &Names) -> Vec<SocketAddr> {
    match names {
        Names::Fixed(known) => {
            known.get(name).into_iter().flatten().map(|address| SocketAddr::new(*address, port)).collect()
        }
        Names::System => match timeout(CONNECT_TIME, tokio::net::lookup_host((name, port))).await {
            Ok(Ok(found)) => found.collect(),
            _ => Vec::new(),
        },
    }
}

/// Answers with an error and closes the connection after the client had a chance to read it.
async fn refuse(mut client: TcpStream, status: &str, why: &str) {
    let length = why.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{why}\n"
    );
    let _ = timeout(REFUSED_TIME, async {
        client.write_all(answer.as_bytes()).await?;
        client.shutdown().await?;
        // Closing a socket with unread bytes would reset the connection before the answer is read.
        tokio::io::copy(&mut client.take(REFUSED_BYTES_MAX), &mut tokio::io::sink()).await
    })
    .await;
}
