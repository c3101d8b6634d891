//! A project with a server, and a small HTTP client.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_cli::session::Session;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A machine with a question, a timer, and an end.
pub(super) const GATE: &str = "\
machine: gate
version: 1
summary: A change passes a gate when a person opens it.
input: { type: object, required: [change], properties: { change: { type: string } } }
context: { note: '' }
events:
  open: { from: user, summary: Let it pass, data: { type: object, required: [note], properties: { note: { type: string } } } }
  knock: { from: run, summary: A program asks again }
  abort: { from: user, summary: Send it away }
initial: closed
on: { abort: { target: gone } }
states:
  closed:
    tags: [idle]
    shows: { change: '${input.change}' }
    timeout: HOURS
    on:
      open: { target: passed, assign: { note: '${event.note}' }, reason: '${event.note}' }
      knock: { limit: 3, reason: somebody knocks }
      timeout: { target: missed, reason: nobody came }
  passed: { type: final, outcome: success }
  missed: { type: final, outcome: failure }
  gone: { type: final, outcome: aborted }
properties:
  - terminates: true
";

/// A running server on a store of its own.
pub(super) struct Scene {
    pub(super) session: Session,
    pub(super) address: String,
    /// The login code of the link that the server printed.
    pub(super) code: String,
    server: Child,
    _folder: TempDir,
}

/// An answer of the server.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Json {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(super) fn has_header(&self, line: &str) -> bool {
        self.head.to_lowercase().contains(&format!("{}\r\n", line.to_lowercase()))
    }
}

impl Scene {
    /// Starts a server in a project with the gate, which closes after this time.
    pub(super) fn new(closes_after: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("INTERLOCK_USER", "ada");
        let machine = GATE.replace("HOURS", closes_after);
        session.write("project/.interlock/machines/gate/machine.yaml", &machine).unwrap();
        let (server, address, code) = start(&session);
        Scene { session, address, code, server, _folder: folder }
    }

    /// Ends the server without a warning and starts it again on the same store.
    pub(super) fn restart(&mut self) {
        // It may have been killed already.
        let _ = self.server.kill();
        self.server.wait().unwrap();
        (self.server, self.address, self.code) = start(&self.session);
    }

    /// Ends the server without a warning.
    pub(super) fn kill(&self) {
        let status = std::process::Command::new("kill").args(["-KILL", &self.server.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// Acts as the owner of a token. Returns the status, or `None` if the connection broke.
    pub(super) fn try_post(&self, token: &str, path: &str, body: &str) -> Option<u16> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let head = format!(
            "POST /api/v1{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    /// Asks the server to end, and returns its exit code.
    pub(super) fn stop(&mut self) -> Option<i32> {
        let status = std::process::Command::new("kill").args(["-TERM", &self.server.id().to_string()]).status();
        assert!(status.unwrap().success());
        self.server.wait().unwrap().code()
    }

    /// Returns the path of the project.
    pub(super) fn project(&self) -> String {
        self.session.folder().join("project").display().to_string()
    }

    /// Adds a token.
    pub(super) fn token(&self, role: &str) -> String {
        let added = self.session.run(&format!("token add {role}-{} --role {role}", unique())).unwrap();
        added.stdout.trim().to_owned()
    }

    /// Sends a request with headers, each as a line.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if !body.is_empty() {
            head.push_str("Content-Type: application/json\r\n");
        }
        headers.iter().for_each(|line| head.push_str(&format!("{line}\r\n")));
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&bytes[..end + 2]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    /// Reads as the owner of a token.
    pub(super) fn get(&self, token: &str, path: &str) -> Answer {
        self.send("GET", &format!("/api/v1{path}"), &[&format!("Authorization: Bearer {token}")], "")
    }

    /// Acts as the owner of a token.
    pub(super) fn post(&self, token: &str, path: &str, body: Json) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send("POST", &format!("/api/v1{path}"), &[&format!("Authorization: Bearer {token}")], &body)
    }

    /// Starts a run of the gate.
    pub(super) fn start_gate(&self, token: &str, name: &str) -> Answer {
        let body =
            json!({ "machine": "gate", "folder": self.project(), "name": name, "input": { "change": "more speed" } });
        self.post(token, "/runs", body)
    }

    /// Opens the stream of events after a number.
    pub(super) fn events(&self, token: &str, since: u64) -> Events {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nLast-Event-ID: {since}\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        Events(BufReader::new(stream))
    }

    /// Waits until a run is in a phase, with a time limit for slow computers.
    pub(super) fn until_phase(&self, token: &str, run: &str, phase: &str) -> Json {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.get(token, &format!("/runs/{run}")).json();
            if shown["phase"] == phase {
                return shown;
            }
            assert!(Instant::now() < deadline, "{run} is not {phase}: {shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Starts a server and returns its address and login code, which it prints.
fn start(session: &Session) -> (Child, String, String) {
    let mut server = session
        .command("serve --listen 127.0.0.1:0 --folder project")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let link = lines.by_ref().map(Result::unwrap).find_map(|line| line.strip_prefix("Open http://").map(str::to_owned));
    let (address, code) = link.as_deref().and_then(|link| link.split_once("/#code=")).unwrap();
    let (address, code) = (address.to_owned(), code.to_owned());
    // A server whose messages are not read would stop.
    std::thread::spawn(move || lines.for_each(drop));
    (server, address, code)
}

fn unique() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// A stream of events.
pub(super) struct Events(BufReader<TcpStream>);

impl Events {
    /// Waits for the next record and returns its number, its run and its place in the run.
    pub(super) fn next(&mut self) -> (u64, String, u64) {
        let json = self.notice();
        (json["number"].as_u64().unwrap(), json["run"].as_str().unwrap().to_owned(), json["seq"].as_u64().unwrap())
    }

    /// Waits for the notice of the next record.
    pub(super) fn notice(&mut self) -> Json {
        let (mut line, mut kind) = (String::new(), String::new());
        loop {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended");
            if let Some(word) = line.strip_prefix("event: ") {
                kind = word.trim().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ").filter(|_| kind == "record") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}
