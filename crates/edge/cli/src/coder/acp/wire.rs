//! JSON-RPC messages on stdin and stdout.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, Write as _},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, oneshot};

use crate::failure::Failure;

/// The longest message that is read.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A message of the client.
pub(super) enum Message {
    /// A request, which must be answered.
    Request { id: Json, method: String, params: Json },
    /// A notification.
    Notification { method: String, params: Json },
}

/// An error that a request is answered with.
#[derive(Debug)]
pub(super) struct Fault {
    code: i64,
    message: String,
}

impl Fault {
    pub(super) fn params(message: impl Into<String>) -> Self {
        Fault { code: -32602, message: message.into() }
    }

    pub(super) fn method(name: &str) -> Self {
        Fault { code: -32601, message: format!("the method `{name}` is not supported") }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Fault { code: -32603, message: failure.words() }
    }
}

impl From<interlock_runtime::Error> for Fault {
    fn from(error: interlock_runtime::Error) -> Self {
        Failure::from(error).into()
    }
}

/// The connection to the client.
pub(super) struct Wire {
    next_id: AtomicU64,
    /// The requests of ours that are not answered yet.
    open: Mutex<BTreeMap<u64, oneshot::Sender<Json>>>,
    out: Mutex<std::io::Stdout>,
}

impl Wire {
    /// Opens the connection. The receiver ends when the client closes it.
    pub(super) fn open() -> (Arc<Self>, mpsc::UnboundedReceiver<Message>) {
        let wire =
            Arc::new(Wire { next_id: AtomicU64::new(1), open: Mutex::default(), out: Mutex::new(std::io::stdout()) });
        let (sender, receiver) = mpsc::unbounded_channel();
        let reader = Arc::clone(&wire);
        // Reading stdin blocks. The thread ends with the process.
        std::thread::spawn(move || reader.read(&sender));
        (wire, receiver)
    }

    fn read(&self, to: &mpsc::UnboundedSender<Message>) {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut bounded = std::io::Read::take(&mut input, MESSAGE_BYTES_MAX as u64);
            match bounded.read_until(b'\n', &mut line) {
                Ok(1..) => {}
                _ => break,
            }
            let Ok(message) = serde_json::from_slice::<Json>(&line) else {
                if !line.trim_ascii().is_empty() {
                    let fault = Fault { code: -32700, message: "the message is not JSON".to_owned() };
                    self.answer(&Json::Null, Err(fault));
                }
                continue;
            };
            let is_open = match (message["method"].as_str(), message.get("id")) {
                (Some(method), id) => {
                    let (method, params) = (method.to_owned(), message["params"].clone());
                    to.send(match id {
                        Some(id) => Message::Request { id: id.clone(), method, params },
                        None => Message::Notification { method, params },
                    })
                    .is_ok()
                }
                (None, Some(id)) => {
                    self.answered(id, &message);
                    true
                }
                (None, None) => true,
            };
            if !is_open {
                break;
            }
        }
        // The other side no longer answers.
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn answered(&self, id: &Json, message: &Json) {
        let waiting = id.as_u64().and_then(|id| self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(message.get("result").cloned().unwrap_or(Json::Null));
        }
    }

    /// Answers a request of the client.
    pub(super) fn answer(&self, id: &Json, answer: Result<Json, Fault>) {
        self.write(&match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Fault { code, message }) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
            }
        });
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: &Json) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and waits for its result; null if the client fails or is gone.
    pub(super) async fn request(&self, method: &str, params: &Json) -> Json {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        receiver.await.unwrap_or(Json::Null)
    }

    fn write(&self, message: &Json) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // If the client is gone, reading ends too.
        let _ = out.write_all(format!("{message}\n").as_bytes()).and_then(|()| out.flush());
    }
}
