//! A session: one conversation, whose turns are the client's prompts.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use interlock_runtime::Runtime;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::{
    Server,
    update::{self, Teller},
    wire::{Fault, Wire},
};
use crate::{
    args::Run,
    coder::{
        Conversation,
        conversation::{Control, Stand},
        happening::{Call, Reader},
    },
    commands::run,
    follow::Follower,
    output::Output,
    store::Store,
};

/// The name of the machine.
const MACHINE: &str = "coder";

/// A session of the client.
pub(super) struct Session {
    id: String,
    folder: PathBuf,
    store: Arc<Store>,
    runtime: Runtime,
    wire: Arc<Wire>,
    /// The conversation; `None` before the first prompt. It is locked for the time of a turn.
    talk: tokio::sync::Mutex<Option<Conversation>>,
    /// The way to the turn in progress.
    control: Mutex<Option<mpsc::Sender<Control>>>,
}

impl Session {
    pub(super) fn new(id: String, folder: PathBuf, server: &Server) -> Self {
        Session {
            id,
            folder,
            store: Arc::clone(&server.store),
            runtime: server.runtime.clone(),
            wire: Arc::clone(&server.wire),
            talk: tokio::sync::Mutex::new(None),
            control: Mutex::new(None),
        }
    }

    /// Loads the session of a run and tells its history.
    pub(super) async fn load(id: &str, folder: PathBuf, server: &Server) -> Result<Self, Fault> {
        let head = server.store.find(id)?;
        if head.machine != MACHINE || head.name != id {
            return Err(Fault::params(format!("there is no session `{id}`")));
        }
        let session = Session::new(id.to_owned(), folder, server);
        let mut teller = session.teller();
        let (mut run, mut reader) = (Follower::from_start(&*server.store, head.clone())?, Reader::default());
        while let Some(step) = run.read(1)?.pop() {
            teller.user_message(&step.entry);
            reader.read(&step, &run.live).into_iter().for_each(|happening| teller.tell(happening));
        }
        *session.talk.lock().await = Some(Conversation::resume(&server.store, &server.runtime, head)?);
        Ok(session)
    }

    fn teller(&self) -> Teller {
        Teller::new(self.id.clone(), self.folder.clone(), Arc::clone(&self.wire))
    }

    /// Plays a turn and returns the reason of its end.
    pub(super) async fn prompt(&self, text: &str) -> Result<&'static str, Fault> {
        let mut place = self.talk.lock().await;
        let (sender, mut controls) = mpsc::channel(8);
        *self.control.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let ended = self.turn(&mut place, text, &mut controls).await;
        *self.control.lock().unwrap_or_else(PoisonError::into_inner) = None;
        ended
    }

    async fn turn(
        &self,
        place: &mut Option<Conversation>,
        text: &str,
        controls: &mut mpsc::Receiver<Control>,
    ) -> Result<&'static str, Fault> {
        let talk = match place {
            Some(talk) => {
                match talk.stand() {
                    Stand::Questions(_) => talk.send("CLARIFICATION_ANSWER", json!({ "text": text })).await?,
                    _ => talk.send("USER_MESSAGE", json!({ "text": text })).await?,
                }
                talk
            }
            None => place.insert(self.begin(text).await?),
        };
        let mut teller = self.teller();
        loop {
            let stand = talk.advance(controls, &mut |happening| teller.tell(happening)).await?;
            match stand {
                Stand::Message | Stand::Over(_) => return Ok(teller.stop_reason()),
                Stand::Questions(questions) => {
                    teller.say(&questions.join("\n"));
                    return Ok("end_turn");
                }
                Stand::Plan { plan, permissions } => {
                    let call = Call { id: format!("plan-{}", talk.follower.live.seq), name: "plan".into(), args: plan };
                    self.confirm(talk, &call, &update::of_plan(&call, &permissions), controls).await?;
                }
                Stand::Call { call, permissions } => {
                    let name = call["name"].as_str().unwrap_or_default().to_owned();
                    let id = format!("ask-{}", talk.follower.live.seq);
                    let call = Call { id, name, args: call["args"].clone() };
                    self.confirm(talk, &call, &update::of_call(&call, &permissions, &self.folder), controls).await?;
                }
                Stand::Commit { commit, permissions } => {
                    let id = format!("commit-{}", talk.follower.live.seq);
                    let shown = update::of_commit(&id, &commit, &talk.diff(&commit.from, &commit.to)?, &permissions);
                    let call = Call { id, name: "git_commit".into(), args: json!({}) };
                    self.confirm(talk, &call, &shown, controls).await?;
                }
                Stand::Grant(offer) => {
                    let shown = update::of_grant(&offer.scopes, talk.follower.live.seq);
                    match self.permission(&shown, &update::ONCE, controls).await.as_deref() {
                        Some("single_action") => talk.grant(&offer).await?,
                        _ => talk.send("GRANT_REFUSED", json!({})).await?,
                    }
                }
                Stand::Other => {
                    teller.say("This run waits for something that no editor can answer; see `interlock show`.");
                    return Ok("end_turn");
                }
                Stand::Left => return Ok("cancelled"),
            }
        }
    }

    /// Starts the run with the first prompt as its goal.
    async fn begin(&self, goal: &str) -> Result<Conversation, Fault> {
        let order = Run {
            machine: MACHINE.to_owned(),
            input: None,
            set: vec![format!("goal={goal}"), "once=false".to_owned()],
            repo: Some(self.folder.clone()),
            name: Some(self.id.clone()),
            worktree: false,
            in_place: true,
            unproved: false,
            agent: None,
        };
        let prepared = run::prepare(&order, &Output::new(true))?;
        let head = prepared.start(&self.runtime).await?;
        Ok(Conversation::begin(&self.store, &self.runtime, head)?)
    }

    async fn confirm(
        &self,
        talk: &Conversation,
        call: &Call,
        shown: &Json,
        controls: &mut mpsc::Receiver<Control>,
    ) -> Result<(), Fault> {
        let chosen = self.permission(shown, &update::SCOPES, controls).await;
        let data = match chosen.as_deref() {
            Some(scope @ ("single_action" | "session" | "workspace")) => json!({ "answer": "yes", "scope": scope }),
            Some(_) => json!({ "answer": "no" }),
            None => {
                talk.send("CANCEL", json!({})).await?;
                return Ok(());
            }
        };
        let status = if data["answer"] == "yes" { "completed" } else { "failed" };
        self.wire.notify(
            "session/update",
            &json!({ "sessionId": self.id, "update": {
                "sessionUpdate": "tool_call_update", "toolCallId": call.id, "status": status,
            } }),
        );
        talk.send("CONFIRM", data).await?;
        Ok(())
    }

    /// Asks the client for a permission. Returns the chosen option, or `None` if the turn is cancelled.
    async fn permission(
        &self,
        call: &Json,
        options: &[(&str, &str, &str)],
        controls: &mut mpsc::Receiver<Control>,
    ) -> Option<String> {
        let options: Vec<Json> =
            options.iter().map(|(id, name, kind)| json!({ "optionId": id, "name": name, "kind": kind })).collect();
        let params = json!({ "sessionId": self.id, "toolCall": call, "options": options });
        let result = tokio::select! {
            result = self.wire.request("session/request_permission", &params) => result,
            _ = controls.recv() => return None,
        };
        let outcome = &result["outcome"];
        match outcome["outcome"].as_str() {
            Some("selected") => outcome["optionId"].as_str().map(str::to_owned),
            _ => None,
        }
    }

    /// Cancels the turn in progress.
    pub(super) fn cancel(&self) {
        if let Some(control) = &*self.control.lock().unwrap_or_else(PoisonError::into_inner) {
            // A full channel holds enough orders to cancel.
            let _ = control.try_send(Control::Cancel);
        }
    }
}
