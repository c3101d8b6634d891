//! A run of the machine `coder`, moved from one question to the next.

use std::time::Duration;

use interlock_chart::Value;
use interlock_journal::{Head, Phase};
use interlock_judge::REFUSED_CALL;
use interlock_model::NOTICE;
use interlock_runtime::{GrantOffer, News, Runtime};
use serde_json::Value as Json;
use tokio::sync::{broadcast, mpsc};

use super::happening::{Happening, Reader, context};
use crate::{
    failure::Failure,
    follow::{Follower, Standing},
    store::{Store, user},
};

/// The interval at which records of other processes are looked for.
const TICK: Duration = Duration::from_millis(100);

/// The prefix of a judge's own report, which is no text of the model.
const JUDGED: &str = "judged by ";

/// An order to a turn in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Cancel the turn; the conversation goes on.
    Cancel,
    /// Stop the activities and leave the run; it can be resumed.
    Leave,
}

/// The input that a conversation waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stand {
    /// The next message.
    Message,
    /// The answers to these questions.
    Questions(Vec<String>),
    /// A yes or no to a plan.
    Plan { plan: Json, permissions: Vec<String> },
    /// A yes or no to a tool call.
    Call { call: Json, permissions: Vec<String> },
    /// A yes or no to a commit.
    Commit { commit: PlannedCommit, permissions: Vec<String> },
    /// A permission that policy asks for.
    Grant(GrantOffer),
    /// Something that the conversation does not know, such as the result of an activity that is not installed.
    Other,
    /// The run has ended.
    Over(Phase),
    /// The run was left.
    Left,
}

/// A commit that a person is asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlannedCommit {
    pub(crate) branch: String,
    pub(crate) message: String,
    /// The trees between which its change lies.
    pub(crate) from: String,
    pub(crate) to: String,
}

/// The longest subject line of a message that is derived from a request, as `git.commit` makes it.
const SUBJECT_CHARS_MAX: usize = 72;

/// Returns the message of a commit: that of the person, or else the first line of the request.
fn subject(message: &str, request: &str) -> String {
    match message.trim() {
        "" => {
            let line = request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            line.chars().take(SUBJECT_CHARS_MAX).collect()
        }
        message => message.to_owned(),
    }
}

/// A conversation.
pub(crate) struct Conversation {
    pub(crate) runtime: Runtime,
    pub(crate) follower: Follower,
    reader: Reader,
    news: broadcast::Receiver<News>,
}

impl Conversation {
    /// Follows a new run from its first record.
    pub(crate) fn begin(store: &Store, runtime: &Runtime, head: Head) -> Result<Self, Failure> {
        let follower = Follower::from_start(store, head)?;
        Ok(Conversation { runtime: runtime.clone(), news: runtime.news(), reader: Reader::default(), follower })
    }

    /// Continues a run from its current state.
    pub(crate) fn resume(store: &Store, runtime: &Runtime, head: Head) -> Result<Self, Failure> {
        let follower = Follower::from_now(store, head)?;
        let reader = Reader::at(&follower.live);
        Ok(Conversation { runtime: runtime.clone(), news: runtime.news(), reader, follower })
    }

    /// The head of the run.
    pub(crate) fn head(&self) -> &Head {
        &self.follower.head
    }

    /// Moves the run until it waits for a person, ends, or is left. Tells everything that happens.
    pub(crate) async fn advance(
        &mut self,
        controls: &mut mpsc::Receiver<Control>,
        tell: &mut (dyn FnMut(Happening) + Send),
    ) -> Result<Stand, Failure> {
        loop {
            let holder = self.runtime.adopt(self.follower.head.key).await?;
            let is_left = match holder {
                None => self.attend(controls, tell).await?,
                // Another process moves the run.
                Some(_) => self.look_on(controls, tell).await?,
            };
            if is_left {
                return Ok(Stand::Left);
            }
            match self.follower.standing() {
                Standing::Moving => {}
                Standing::Over => return Ok(Stand::Over(self.follower.phase())),
                Standing::Person | Standing::Paused => return Ok(self.stand()),
                Standing::Timer(_) => tokio::time::sleep(TICK).await,
            }
        }
    }

    /// Tells what happens for as long as this process moves the run. Returns true if the run is to be left.
    async fn attend(
        &mut self,
        controls: &mut mpsc::Receiver<Control>,
        tell: &mut (dyn FnMut(Happening) + Send),
    ) -> Result<bool, Failure> {
        let (runtime, head) = (self.runtime.clone(), self.follower.head.clone());
        let settled = runtime.settled(&head);
        tokio::pin!(settled);
        let mut is_left = false;
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                biased;
                result = &mut settled => {
                    result?;
                    self.look(tell)?;
                    return Ok(is_left);
                }
                news = self.news.recv() => self.hear(news, tell)?,
                Some(control) = controls.recv() => is_left |= self.obey(control, tell).await,
                _ = tick.tick() => self.look(tell)?,
            }
        }
    }

    async fn look_on(
        &mut self,
        controls: &mut mpsc::Receiver<Control>,
        tell: &mut (dyn FnMut(Happening) + Send),
    ) -> Result<bool, Failure> {
        self.look(tell)?;
        tokio::select! {
            Some(control) = controls.recv() => Ok(self.obey(control, tell).await),
            () = tokio::time::sleep(TICK) => Ok(false),
        }
    }

    /// Carries out an order. Returns true if the run is to be left.
    async fn obey(&mut self, control: Control, tell: &mut (dyn FnMut(Happening) + Send)) -> bool {
        match control {
            Control::Cancel => {
                let sent = self.runtime.send(&self.follower.head, "CANCEL", Value::empty(), user()).await;
                tell(Happening::Note(match sent {
                    Ok(_) => "cancelling the turn; press Ctrl-C again to leave".to_owned(),
                    Err(error) => format!("the turn is not cancelled: {error}"),
                }));
                false
            }
            Control::Leave => {
                self.runtime.detach();
                self.runtime.stop_attempts();
                true
            }
        }
    }

    fn hear(
        &mut self,
        news: Result<News, broadcast::error::RecvError>,
        tell: &mut (dyn FnMut(Happening) + Send),
    ) -> Result<(), Failure> {
        match news {
            Ok(news) if **news.run() != *self.follower.head.name => Ok(()),
            Ok(News::Progress { activity, text, .. }) => {
                self.look(tell)?;
                let chart = self.follower.live.loaded.chart();
                let begun = self.follower.live.activities.get(&activity);
                let is_judge = begun.is_some_and(|begun| chart.invoke(begun.invoke).activity.starts_with("judge."));
                tell(match text.strip_prefix(NOTICE).filter(|_| is_judge) {
                    Some(notice) => self.notice(notice),
                    None if is_judge && !text.starts_with(JUDGED) => Happening::Streaming(text.to_string()),
                    None => Happening::Note(text.to_string()),
                });
                Ok(())
            }
            Ok(News::Stopped { error, .. }) => Err(error.into()),
            Ok(News::Moved { .. } | News::Started { .. } | News::Settled { .. }) | Err(_) => self.look(tell),
        }
    }

    /// Returns a notice of a judge. A call that fits no tool never becomes a record of its own.
    fn notice(&self, text: &str) -> Happening {
        let refused = text.strip_prefix(REFUSED_CALL).and_then(|reason| {
            let data = serde_json::json!({ "code": "E_INVALID_ARGS", "reason": reason });
            let failure = interlock_coder::Failure::of(&data, &self.follower.head.name)?;
            let next_step = "none: the model is asked to correct the call".to_owned();
            Some(interlock_coder::Failure { next_step, ..failure })
        });
        match refused {
            Some(failure) => Happening::Refused { call: None, failure },
            None => Happening::Notice(text.to_owned()),
        }
    }

    /// Tells the records that were added since the last call.
    fn look(&mut self, tell: &mut (dyn FnMut(Happening) + Send)) -> Result<(), Failure> {
        // One record at a time: the reader compares the state after each.
        while let Some(step) = self.follower.read(1)?.pop() {
            self.reader.read(&step, &self.follower.live).into_iter().for_each(&mut *tell);
        }
        Ok(())
    }

    /// Returns the input that the run waits for.
    pub(crate) fn stand(&self) -> Stand {
        let (live, offers) = (&self.follower.live, self.follower.offers());
        let takes = |event: &str| offers.events.iter().any(|offer| offer.event == event);
        let texts = |name: &str| {
            let list = context(live, name);
            list.as_array().into_iter().flatten().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
        };
        let place = live.place();
        match &offers.grant {
            _ if !offers.by_hand.is_empty() => Stand::Other,
            Some(grant) => Stand::Grant(grant.clone()),
            None if takes("CLARIFICATION_ANSWER") => Stand::Questions(texts("questions")),
            None if takes("CONFIRM") && place.contains("CALL_ASKED") => {
                Stand::Call { call: context(live, "call"), permissions: texts("asked") }
            }
            None if takes("CONFIRM") && place.contains("COMMIT_ASKED") => {
                let shown = |label: &str| {
                    let found = offers.shown.iter().find(|shown| shown.label == label);
                    found.and_then(|shown| shown.data.as_str()).unwrap_or_default().to_owned()
                };
                let text = |name: &str| context(live, name).as_str().unwrap_or_default().to_owned();
                let commit = PlannedCommit {
                    branch: shown("branch"),
                    message: subject(&text("feedback"), &text("message")),
                    from: text("base"),
                    to: text("change"),
                };
                Stand::Commit { commit, permissions: texts("asked") }
            }
            None if takes("CONFIRM") => Stand::Plan { plan: context(live, "plan"), permissions: texts("asked") },
            None if takes("USER_MESSAGE") => Stand::Message,
            None => Stand::Other,
        }
    }

    /// Returns the diff between two trees of the run.
    pub(crate) fn diff(&self, from: &str, to: &str) -> Result<String, Failure> {
        let workspace = interlock_workspace::Workspace::new(crate::store::home()?);
        let diff = workspace.diff_trees(&self.follower.live.folder, from, to).map_err(Failure::failed)?;
        Ok(String::from_utf8_lossy(&diff).into_owned())
    }

    /// Sends an event to the run.
    pub(crate) async fn send(&self, event: &str, data: Json) -> Result<(), Failure> {
        self.runtime.send(&self.follower.head, event, Value::from(data), user()).await?;
        Ok(())
    }

    /// Grants the permissions that the run waits for, once, and lets it go on.
    pub(crate) async fn grant(&self, offer: &GrantOffer) -> Result<(), Failure> {
        for scope in &offer.scopes {
            self.runtime.grant(&self.follower.head, scope, None, Some(1), user()).await?;
        }
        self.send(&offer.event, serde_json::json!({})).await
    }

    /// Lets the run go, so that another process can move it.
    pub(crate) async fn let_go(&self) -> Result<(), Failure> {
        crate::drive::let_go(&self.runtime, &self.follower.head).await.map(drop)
    }
}
