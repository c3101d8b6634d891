//! A relay that forwards over TLS, to a server in Python with a certificate of its own.

#![allow(clippy::disallowed_methods, reason = "tests start what they need")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use interlock_relay::{Client, Credential, Origin, Relay, Setup};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const SERVER: &str = r#"
import http.server, ssl
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        has_key = self.headers.get("authorization") == "Bearer the-real-key"
        text = b'{"usage": {"prompt_tokens": 5, "completion_tokens": 6}}'
        self.send_response(200 if has_key and self.path == "/api/v1/chat/completions" else 400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A running server, which ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the server. Returns it with its port and the SHA-256 of its certificate.
fn start(folder: &Path) -> (Server, String, [u8; 32]) {
    let request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem";
    let openssl = |words: &str| Command::new("openssl").args(words.split(' ')).current_dir(folder).output().unwrap();
    assert!(openssl(request).status.success());
    let print = String::from_utf8(openssl("x509 -noout -fingerprint -sha256 -in cert.pem").stdout).unwrap();
    let bytes = print.trim().rsplit('=').next().unwrap().split(':').map(|hex| u8::from_str_radix(hex, 16).unwrap());
    let print: Vec<u8> = bytes.collect();
    let mut server = Command::new("python3");
    server.args(["-c", SERVER]).current_dir(folder).stdout(Stdio::piped());
    let mut server = Server(server.spawn().unwrap());
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    (server, port.trim().to_owned(), print.try_into().unwrap())
}

async fn ask(url: &str, client: Client) -> (String, u64) {
    let setup = Setup {
        origin: Origin::parse(url, &[]).unwrap(),
        credential: Credential::new("authorization", "the-real-key").unwrap(),
        token: "token".to_owned(),
        tokens_max: None,
        client,
    };
    let relay = Relay::open(setup).await.unwrap();
    let mut stream = TcpStream::connect(relay.address()).await.unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer token\r\nConnection: close\r\n";
    stream.write_all(format!("{head}Content-Length: 2\r\n\r\n{{}}").as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    (said, relay.close().await.tokens.total())
}

#[tokio::test]
async fn origin_with_tls_and_a_path_gets_the_key_only_if_its_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, port, print) = start(folder.path());
    let url = format!("https://127.0.0.1:{port}/api");
    let (said, tokens) = ask(&url, Client::pinned(print)).await;
    assert!(said.starts_with("HTTP/1.1 200") && tokens == 11, "{tokens}: {said}");
    let (said, tokens) = ask(&url, Client::default()).await;
    assert!(said.starts_with("HTTP/1.1 502") && said.contains("could not be reached") && tokens == 0, "{said}");
}
