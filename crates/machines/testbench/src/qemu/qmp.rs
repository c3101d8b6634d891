//! The QEMU machine protocol (QMP): one JSON object per line, with commands, answers, and events in between.

use std::{collections::VecDeque, io, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

/// The time limit of an answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// The longest line: the registers of many processors take some kilobytes.
const LINE_BYTES_MAX: usize = 4 << 20;

/// The largest number of pending events that are kept.
const EVENTS_MAX: usize = 1_000;

/// A connection to a QEMU.
#[derive(Debug)]
pub(crate) struct Qmp {
    stream: UnixStream,
    read: Vec<u8>,
    events: VecDeque<Event>,
    is_closed: bool,
}

/// An event that QEMU sends unasked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// The name of the event, such as `RESET`.
    pub(crate) name: String,
    /// The data of the event.
    pub(crate) data: Value,
}

impl Qmp {
    /// Reads the greeting and completes the handshake.
    pub(crate) async fn new(stream: UnixStream) -> io::Result<Self> {
        let mut qmp = Qmp { stream, read: Vec::new(), events: VecDeque::new(), is_closed: false };
        tokio::time::timeout(ANSWER_MAX, qmp.line()).await.map_err(|_| late("greeting"))??;
        qmp.execute("qmp_capabilities", json!({})).await?;
        Ok(qmp)
    }

    /// Executes a command and returns its result.
    pub(crate) async fn execute(&mut self, order: &str, arguments: Value) -> io::Result<Value> {
        let line = format!("{}\n", json!({ "execute": order, "arguments": arguments }));
        let answering = async {
            let written = self.stream.write_all(line.as_bytes()).await;
            self.is_closed |= written.is_err();
            written?;
            loop {
                let mut said = self.line().await?;
                if let Some(answer) = said.get_mut("return") {
                    return Ok(answer.take());
                }
                if let Some(error) = said.pointer("/error/desc") {
                    return Err(io::Error::other(format!("{order}: {}", error.as_str().unwrap_or_default())));
                }
                self.note(said);
            }
        };
        tokio::time::timeout(ANSWER_MAX, answering).await.map_err(|_| late(order))?
    }

    /// Executes a command of the human monitor and returns its output.
    pub(crate) async fn monitor(&mut self, order: &str) -> io::Result<String> {
        let answer = self.execute("human-monitor-command", json!({ "command-line": order })).await?;
        Ok(answer.as_str().unwrap_or_default().replace('\r', ""))
    }

    /// Resumes the processors. The firmware may end QEMU before it answers.
    pub(crate) async fn cont(&mut self) -> io::Result<()> {
        match self.execute("cont", json!({})).await {
            Err(error) if !self.is_closed => Err(error),
            _ => Ok(()),
        }
    }

    /// Ends QEMU. It may be gone before it answers.
    pub(crate) async fn quit(&mut self) {
        let _ = self.execute("quit", json!({})).await;
    }

    /// Returns the next event, or `None` once the connection is closed. May be dropped at any time without losing
    /// events.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let said = self.line().await.ok()?;
            self.note(said);
        }
    }

    /// Reports whether QEMU has closed the connection.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn note(&mut self, mut said: Value) {
        let Some(name) = said.get("event").and_then(Value::as_str).map(str::to_owned) else { return };
        let data = said.get_mut("data").map(Value::take).unwrap_or_default();
        if self.events.len() < EVENTS_MAX {
            self.events.push_back(Event { name, data });
        }
    }

    async fn line(&mut self) -> io::Result<Value> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            let mut buffer = [0; 4096];
            let read = self.stream.read(&mut buffer).await.unwrap_or(0);
            if read == 0 || self.read.len() > LINE_BYTES_MAX {
                self.is_closed = true;
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.read.extend(&buffer[..read]);
        }
    }
}

fn late(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("QEMU did not answer: {what}"))
}
