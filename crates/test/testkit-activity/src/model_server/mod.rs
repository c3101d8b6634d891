//! A server that imitates the servers of model providers. It sends any answer that a test needs, including invalid
//! ones.
//!
//! It listens on loopback and uses HTTP/1.1 over real sockets. [`Dialect`] builds answers in the wire format of a
//! provider. [`Scripted`] is an arbitrary answer with its exact bytes and the end of the connection.

mod agent_script;
mod coder_script;
mod dialect;
mod tool_calls;

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
};

pub use agent_script::{Step, agent_model};
pub use coder_script::{CoderTurn, Move, coder_answer, coder_model};
pub use dialect::Dialect;
use serde_json::Value;

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The request line, such as `POST /v1/messages HTTP/1.1`.
    pub line: String,
    /// The headers by their name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The JSON body, or null if there is none.
    pub body: Value,
}

impl ReceivedRequest {
    /// Returns all text that a model would read.
    pub fn text(&self) -> String {
        self.body.to_string()
    }
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The answer is complete.
    Proper,
    /// The connection closes in the middle of the answer.
    Abrupt,
    /// The connection stays open without further data until the server ends.
    Silent,
}

/// An answer with its exact bytes.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// The HTTP status code.
    pub status: u16,
    /// The headers in addition to those that HTTP needs.
    pub headers: Vec<(String, String)>,
    /// The body, in the pieces in which it is sent.
    pub pieces: Vec<Vec<u8>>,
    /// The end of the connection after the body.
    pub end: End,
}

impl Scripted {
    /// Creates an answer with this media type.
    pub fn new(status: u16, media: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), media.to_owned())];
        Scripted { status, headers, pieces: vec![body.into()], end: End::Proper }
    }

    /// Creates an HTML error page, as gateways send it.
    pub fn page(status: u16) -> Self {
        Scripted::new(status, "text/html; charset=utf-8", "<html><body><h1>502 Bad Gateway</h1></body></html>")
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the end of the connection.
    #[must_use]
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// Keeps only the first pieces, and sets the end of the connection.
    #[must_use]
    pub fn only(mut self, pieces: usize, end: End) -> Self {
        self.pieces.truncate(pieces);
        self.ending(end)
    }
}

/// A running server, which ends when it is dropped.
pub struct ModelServer {
    /// The base URL, `http://127.0.0.1:PORT`.
    pub url: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
    over: Arc<(Mutex<bool>, Condvar)>,
}

type Script = dyn FnMut(usize, &ReceivedRequest) -> Scripted + Send;

impl ModelServer {
    /// Starts a server. The script receives the number of the request, from 0, and the request, and returns the answer.
    pub fn start(script: impl FnMut(usize, &ReceivedRequest) -> Scripted + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, over) = (Arc::default(), Arc::<(Mutex<bool>, Condvar)>::default());
        let script: Arc<Mutex<Box<Script>>> = Arc::new(Mutex::new(Box::new(script)));
        let (all, end) = (Arc::clone(&asked), Arc::clone(&over));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if *end.0.lock().unwrap() {
                    break;
                }
                let (script, all, end) = (Arc::clone(&script), Arc::clone(&all), Arc::clone(&end));
                std::thread::spawn(move || serve(stream, &script, &all, &end));
            }
        });
        ModelServer { url, asked, over }
    }

    /// Starts a server that sends these answers in order and repeats the last one.
    pub fn saying(answers: Vec<Scripted>) -> Self {
        Self::start(move |at, _| answers[at.min(answers.len() - 1)].clone())
    }

    /// Returns the requests received so far.
    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *self.over.0.lock().unwrap() = true;
        self.over.1.notify_all();
        // This connection wakes the listener, so that it sees the end.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn serve(
    mut stream: TcpStream,
    script: &Mutex<Box<Script>>,
    all: &Mutex<Vec<ReceivedRequest>>,
    over: &(Mutex<bool>, Condvar),
) {
    let Some(asked) = read(&mut stream) else { return };
    let answer = {
        let mut all = all.lock().unwrap();
        all.push(asked.clone());
        let at = all.len() - 1;
        drop(all);
        (script.lock().unwrap())(at, &asked)
    };
    // The client may have closed the connection.
    let _ = write(&mut stream, &answer);
    if answer.end == End::Silent {
        let is_over = over.0.lock().unwrap();
        drop(over.1.wait_while(is_over, |is_over| !*is_over).unwrap());
    }
}

/// Reads one request up to the end of the body that its header announces.
fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let mut lines = head.lines();
            let line = lines.next()?.to_owned();
            let headers: BTreeMap<String, String> = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
                .collect();
            let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            let body = &bytes[end + 4..];
            if body.len() >= length {
                return Some(ReceivedRequest { line, headers, body: serde_json::from_slice(body).unwrap_or_default() });
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

fn write(stream: &mut TcpStream, answer: &Scripted) -> std::io::Result<()> {
    let headers: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {} Scripted\r\n{headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n",
        answer.status
    );
    stream.write_all(head.as_bytes())?;
    for piece in answer.pieces.iter().filter(|piece| !piece.is_empty()) {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
        stream.flush()?;
    }
    if answer.end == End::Proper {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}
