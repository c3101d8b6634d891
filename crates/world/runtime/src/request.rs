//! Requests to a run, and the actor's answers: from this process, or by a message in the engine.
//!
//! A request with an id is recorded once: a repeated request with the same id returns the result of the first.

use std::sync::Arc;

use interlock_activity::Registry;
use interlock_chart::Value;
use interlock_core::Verdict;
use interlock_journal::{AttemptResult, By, Entry, Undone};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::oneshot;

use crate::{
    AttemptOrder, Fired, Live, Refused, Result, Sent, Turn,
    actor::Actor,
    deadline::{Takers, too_late},
    grants,
    live::Beginning,
};

/// A request to a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Take an event that a caller sends.
    Send(Sending),
    /// Pause the run.
    Pause,
    /// Resume the paused run.
    Resume,
    /// Grant a scope to the run. Only people can.
    Grant { scope: String, for_ms: Option<u64>, uses: Option<u32> },
    /// End the run, whatever its state: its parent no longer needs it.
    Abort { why: String },
    /// Record an undo of writes that is about to be carried out.
    Undo(Undone),
}

/// An event that is sent to a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sending {
    pub(crate) event: String,
    pub(crate) data: Value,
    /// The event's id. An id is recorded at most once per run.
    #[serde(default)]
    pub(crate) id: Option<String>,
}

/// The answer to a request: its record, or the refusal.
pub(crate) type RequestResult = std::result::Result<Sent, Refused>;

/// The recipient of an answer.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A caller in this process.
    Here(oneshot::Sender<Result<Sent>>),
    /// There is no recipient.
    Nobody,
    /// The process that left this message in the engine.
    Message(i64),
}

impl Reply {
    /// Returns the message in the engine that waits for the answer.
    fn message(&self) -> Option<i64> {
        match self {
            Reply::Message(message) => Some(*message),
            Reply::Here(_) | Reply::Nobody => None,
        }
    }

    /// Answers a caller in this process. A message is answered together with the record.
    fn here(self, result: Result<Sent>) -> Result<()> {
        if let Reply::Here(reply) = self {
            let _ = reply.send(result.clone());
        }
        result.map(drop)
    }
}

/// The content of a message in the engine.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredRequest {
    pub(crate) request: Request,
    pub(crate) by: By,
}

/// The time of a request, and the timers that fired before it.
struct Moment {
    at_ms: i64,
    fired: Vec<Fired>,
    /// The takers of the event before the timers fired.
    takers: Takers,
}

impl Actor {
    /// Carries out a request, after the timers that are due.
    pub(crate) async fn ask(&mut self, request: Request, by: By, reply: Reply) -> Result<()> {
        let takers = match &request {
            Request::Send(sending) => self.live.takers(&sending.event),
            _ => Takers::default(),
        };
        let at_ms = self.now_ms();
        let fired = self.fire_due(at_ms).await?;
        self.expire_questions(at_ms).await?;
        let moment = Moment { at_ms, fired, takers };
        let admitted = match request {
            Request::Send(sending) => return self.take(sending, by, reply, moment).await,
            Request::Pause if self.live.state.is_paused() => Err(Refused::new("the run is already paused")),
            Request::Pause if self.live.state.is_done() => Err(Refused::new("the run has ended")),
            Request::Resume if !self.live.state.is_paused() => Err(Refused::new("the run is not paused")),
            Request::Pause => Ok(Entry::Paused { by }),
            Request::Resume => Ok(Entry::Resumed { by }),
            Request::Grant { scope, for_ms, uses } => grants::admit(&self.live, scope, for_ms, uses, by, at_ms),
            Request::Abort { .. } if self.live.state.is_done() => Err(Refused::new("the run has ended")),
            Request::Abort { why } => Ok(Entry::Aborted { by, why }),
            Request::Undo(undone) => self.undo(undone),
        };
        self.settle(admitted, reply, moment).await
    }

    /// Records the admitted entry and answers, or answers with the refusal.
    async fn settle(
        &mut self,
        admitted: std::result::Result<Entry, Refused>,
        reply: Reply,
        Moment { at_ms, fired, .. }: Moment,
    ) -> Result<()> {
        let entry = match admitted {
            Ok(entry) => entry,
            Err(refused) => return self.answer(Err(refused), reply).await,
        };
        let answer = reply.message().map(|message| (message, fired.clone()));
        let result = self.record(entry, at_ms, answer).await;
        reply.here(result.map(|seq| Sent::new(seq, fired)))
    }

    /// Takes an event that a caller sent.
    async fn take(&mut self, sending: Sending, by: By, reply: Reply, moment: Moment) -> Result<()> {
        if let Some(answer) = self.repeated(&sending)? {
            return self.answer(answer, reply).await;
        }
        if self.live.state.is_paused() {
            return self.abort_paused(sending, by, reply, moment).await;
        }
        let (live, registry) = (&self.live, &self.shared.registry);
        let is_overtaken = !moment.fired.is_empty() && live.is_overtaken(&sending.event, &moment.takers);
        let admitted = match is_overtaken {
            true => Err(too_late(&live.name, &sending.event, moment.fired.clone(), live.takes(registry))),
            false => live.admit(&sending.event, &sending.data, by, sending.id, registry),
        };
        match admitted.and_then(|entry| self.is_awaited(&entry).map(|()| entry)) {
            Ok(entry) => self.take_admitted(entry, &sending.event, reply, moment).await,
            Err(refused) => self.answer(Err(refused), reply).await,
        }
    }

    /// Steps an admitted event and records it, unless no enabled transition takes it: it would be recorded without any
    /// effect, and the sender should know that.
    async fn take_admitted(&mut self, entry: Entry, event: &str, reply: Reply, moment: Moment) -> Result<()> {
        let before = self.live.clone();
        let turn = self.turn(entry, moment.at_ms);
        if let Some(why) = refusal(&before, event, &turn, &self.shared.registry) {
            self.live = before;
            return self.answer(Err(why), reply).await;
        }
        let answer = reply.message().map(|message| (message, moment.fired.clone()));
        let result = self.commit(turn, answer).await;
        reply.here(result.map(|seq| Sent::new(seq, moment.fired)))
    }

    /// Returns the result of an earlier event with the same id.
    fn repeated(&self, sending: &Sending) -> Result<Option<RequestResult>> {
        let (engine, run) = (&self.shared.engine, self.live.key);
        let Some(id) = &sending.id else { return Ok(None) };
        let Some(seq) = engine.sent(run, id)? else { return Ok(None) };
        let record = engine.records(run, seq, 1)?.into_iter().next();
        let entry = record.map(|record| engine.entry(&record)).transpose()?;
        let is_same = entry.is_some_and(|entry| is_of(&entry, sending));
        Ok(Some(match is_same {
            true => Ok(Sent { is_repeated: true, ..Sent::new(seq, Vec::new()) }),
            false => {
                Err(Refused::new(format!("the id `{id}` belongs to another event of {}: record {seq}", self.live.name)))
            }
        }))
    }

    /// Handles an event for a paused run: it is accepted only if it aborts the run. The run is resumed and aborted
    /// together, so that no waiting activity starts. If inputs held during the pause end the run first, that is its
    /// end.
    async fn abort_paused(&mut self, sending: Sending, by: By, reply: Reply, moment: Moment) -> Result<()> {
        let paused = Refused::new(format!("run {} is paused; resume it first, or abort it", self.live.name));
        if !self.live.is_aborted_by(&sending.event) {
            return self.answer(Err(paused), reply).await;
        }
        let (before, at_ms) = (self.live.clone(), moment.at_ms);
        let mut turns = vec![self.turn_idle(Entry::Resumed { by: by.clone() }, at_ms)];
        if !self.live.state.is_done() {
            let refused = match self.live.admit(&sending.event, &sending.data, by, sending.id, &self.shared.registry) {
                Ok(entry) => {
                    turns.push(self.turn_idle(entry, at_ms));
                    // A guard may have led to a state that is not the end.
                    (!self.live.state.is_done()).then_some(paused)
                }
                Err(refused) => Some(refused),
            };
            if let Some(refused) = refused {
                self.live = before;
                return self.answer(Err(refused), reply).await;
            }
        }
        let (mut seq, last) = (0, turns.len() - 1);
        for (at, turn) in turns.into_iter().enumerate() {
            let answer = reply.message().filter(|_| at == last).map(|message| (message, moment.fired.clone()));
            seq = self.commit(turn, answer).await?;
        }
        reply.here(Ok(Sent::new(seq, moment.fired)))
    }

    /// Folds an entry into the run, and starts no activity.
    fn turn_idle(&mut self, entry: Entry, at_ms: i64) -> Turn {
        let shared = Arc::clone(&self.shared);
        let mut turn =
            self.live.turn(entry, at_ms, &shared.registry, shared.is_watched(), &mut |_, _| Beginning::Prepare);
        turn.orders.retain(|order| matches!(order, AttemptOrder::Cancel(_)));
        turn
    }

    /// Refuses an undo while an attempt that may write is running.
    fn undo(&self, undone: Undone) -> std::result::Result<Entry, Refused> {
        match self.attempts.only_wait() {
            true => Ok(Entry::Undone(undone)),
            false => {
                Err(Refused::new("an activity of the run is in progress; pause the run and wait until it has ended"))
            }
        }
    }

    /// Answers a request that led to no record.
    async fn answer(&mut self, answer: RequestResult, reply: Reply) -> Result<()> {
        match reply {
            Reply::Here(reply) => drop(reply.send(answer.map_err(crate::Error::from))),
            Reply::Nobody => {}
            Reply::Message(message) => self.shared.engine.answer(message, to_json(&answer)).await?,
        }
        Ok(())
    }

    /// Reads the messages that other processes left for the run.
    pub(crate) async fn look(&mut self) -> Result<()> {
        for message in self.shared.engine.messages(self.live.key)? {
            let reply = Reply::Message(message.id);
            match serde_json::from_str::<StoredRequest>(&message.body) {
                Ok(letter) => self.ask(letter.request, letter.by, reply).await?,
                Err(error) => self.answer(Err(Refused::new(format!("not understood: {error}"))), reply).await?,
            }
        }
        Ok(())
    }
}

/// Returns the reason why a run did not take an event, if it did not. `live` is the run before the event.
fn refusal(live: &Live, event: &str, turn: &Turn, registry: &Registry) -> Option<Refused> {
    match &turn.verdict {
        _ if !matches!(turn.entries.first(), Some(Entry::Event { .. })) => None,
        Verdict::Unhandled => {
            let why = crate::moves::why_refused(live, &turn.trace);
            let why = format!("{} knows `{event}`, but cannot take it now: {why}", live.place());
            let mut refused = live.not_taken(why, registry);
            refused.takes.retain(|(name, _)| name != event);
            Some(refused)
        }
        Verdict::Refused(why) => Some(Refused::new(*why)),
        Verdict::Taken | Verdict::Late | Verdict::Held => None,
    }
}

/// Returns true if an entry records this event. Defaults may have been added to its data.
fn is_of(entry: &Entry, sending: &Sending) -> bool {
    let (event, data) = match entry {
        Entry::Event { event, data, .. } => (event.as_str(), data),
        Entry::Outcome { result: AttemptResult::Signal { name, data }, .. } => (name.as_str(), data),
        Entry::Outcome { result: AttemptResult::Error { data }, .. } => ("error", data),
        _ => return false,
    };
    event == sending.event && is_within(&Json::from(&sending.data), &Json::from(data))
}

fn is_within(part: &Json, whole: &Json) -> bool {
    match (part, whole) {
        (Json::Object(part), Json::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|found| is_within(value, found)))
        }
        _ => part == whole,
    }
}

/// Returns an answer as it is stored for another process.
pub(crate) fn to_json(answer: &RequestResult) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}
