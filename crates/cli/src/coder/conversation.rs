//! A run of the machine `coder`, moved from one question to the next.

use std::time::Duration;

use interlock_chart::Value;
use interlock_journal::{Head, Phase};
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
    Commit { permissions: Vec<String> },
    /// A permission that policy asks for.
    Grant(GrantOffer),
    /// Something that the conversation does not know, such as the result of an activity that is not installed.
    Other,
    /// The run has ended.
    Over(Phase),
    /// The run was left.
    Left,
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
                tell(match is_judge && !text.starts_with(JUDGED) {
                    true => Happening::Streaming(text.to_string()),
                    false => Happening::Note(text.to_string()),
                });
                Ok(())
            }
            Ok(News::Stopped { error, .. }) => Err(error.into()),
            Ok(News::Moved { .. } | News::Started { .. } | News::Settled { .. }) | Err(_) => self.look(tell),
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
            None if takes("CONFIRM") && place.contains("COMMIT_ASKED") => Stand::Commit { permissions: texts("asked") },
            None if takes("CONFIRM") => Stand::Plan { plan: context(live, "plan"), permissions: texts("asked") },
            None if takes("USER_MESSAGE") => Stand::Message,
            None => Stand::Other,
        }
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
