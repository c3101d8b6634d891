//! The Agent Client Protocol, version 1, on stdin and stdout: JSON-RPC, one message per line.
//!
//! A session is a run of the machine `coder`; its id is the run's name, so that a session can be loaded later and every
//! other command knows it. The run begins with the first prompt. `wire.rs` reads and writes messages, `session.rs` plays
//! turns, `update.rs` turns happenings into notifications.

mod session;
mod update;
mod wire;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use interlock_runtime::{Runtime, fresh_name};
use serde_json::{Value as Json, json};

use self::{
    session::Session,
    wire::{Fault, Message, Wire},
};
use crate::{Exit, drive::listen, failure::Failure, store::Store};

/// The version of the protocol.
const VERSION: u64 = 1;

/// Serves sessions until the client closes the connection.
pub(crate) async fn serve() -> Result<Exit, Failure> {
    let store = Arc::new(Store::open()?);
    let runtime = store.runtime()?;
    listen(&runtime);
    let (wire, mut messages) = Wire::open();
    let server = Arc::new(Server { store, runtime: runtime.clone(), wire, sessions: Mutex::default() });
    while let Some(message) = messages.recv().await {
        match message {
            Message::Request { id, method, params } => {
                let server = Arc::clone(&server);
                // A prompt takes as long as its turn; others are answered meanwhile.
                tokio::spawn(async move {
                    let answer = server.answer(&method, &params).await;
                    server.wire.answer(&id, answer);
                });
            }
            Message::Notification { method, params } if method == "session/cancel" => server.cancel(&params),
            Message::Notification { .. } => {}
        }
    }
    runtime.detach();
    runtime.stop_attempts();
    Ok(Exit::Good)
}

struct Server {
    store: Arc<Store>,
    runtime: Runtime,
    wire: Arc<Wire>,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
}

impl Server {
    async fn answer(&self, method: &str, params: &Json) -> Result<Json, Fault> {
        match method {
            "initialize" => Ok(abilities()),
            "authenticate" => Ok(json!({})),
            "session/new" => {
                let id = fresh_name("coder");
                self.add(&id, Session::new(id.clone(), folder(params)?, self));
                Ok(json!({ "sessionId": id }))
            }
            "session/load" => {
                let id = session_id(params)?;
                let session = Session::load(id, folder(params)?, self).await?;
                self.add(id, session);
                Ok(json!({}))
            }
            "session/prompt" => {
                let session = self.session(params)?;
                let text = update::prompt(&params["prompt"]);
                if text.is_empty() {
                    return Err(Fault::params("the prompt has no text"));
                }
                let reason = session.prompt(&text).await?;
                Ok(json!({ "stopReason": reason }))
            }
            other => Err(Fault::method(other)),
        }
    }

    fn cancel(&self, params: &Json) {
        if let Ok(session) = self.session(params) {
            session.cancel();
        }
    }

    fn add(&self, id: &str, session: Session) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), Arc::new(session));
    }

    fn session(&self, params: &Json) -> Result<Arc<Session>, Fault> {
        let id = session_id(params)?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(id).cloned().ok_or_else(|| Fault::params(format!("there is no session `{id}`")))
    }
}

fn session_id(params: &Json) -> Result<&str, Fault> {
    params["sessionId"].as_str().ok_or_else(|| Fault::params("`sessionId` is missing"))
}

fn folder(params: &Json) -> Result<PathBuf, Fault> {
    let cwd = params["cwd"].as_str().ok_or_else(|| Fault::params("`cwd` is missing"))?;
    let folder = PathBuf::from(cwd);
    let folder = folder.canonicalize().unwrap_or(folder);
    match folder.is_absolute() && folder.is_dir() {
        true => Ok(folder),
        false => Err(Fault::params(format!("`cwd` is not the absolute path of a directory: {cwd}"))),
    }
}

fn abilities() -> Json {
    json!({
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
        },
        "agentInfo": { "name": "interlock", "title": "Interlock coder", "version": env!("CARGO_PKG_VERSION") },
        "authMethods": [],
    })
}
