//! What can be asked of a run, and the actor's answer: from this process, or by a message in the engine.
//!
//! A request with an id is recorded once: whoever asks again with the same id is told what became of the first.

use std::sync::Arc;

use interlock_chart::Value;
use interlock_journal::{AttemptResult, By, Entry, Undone};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::oneshot;

use crate::{
    Fired, Live, Order, Refused, Result, Sent,
    actor::Actor,
    deadline::{Takers, too_late},
    grants,
};

/// Something asked of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Take this event.
    Send(Sending),
    /// Stand still.
    Pause,
    /// Go on.
    Resume,
    /// A person says yes to something.
    Grant { scope: String, for_ms: Option<u64>, uses: Option<u32> },
    /// End, whatever the machine says: whoever started the run no longer wants it.
    Abort { why: String },
    /// Writes are about to be taken back.
    Undo(Undone),
}

/// An event for a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sending {
    pub(crate) event: String,
    pub(crate) data: Value,
    /// Recorded once per run.
    #[serde(default)]
    pub(crate) id: Option<String>,
}

/// The answer to a request: what it became, or why it did not.
pub(crate) type Answer = std::result::Result<Sent, Refused>;

/// Whom to answer.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Somebody in this process.
    Here(oneshot::Sender<Result<Sent>>),
    /// Nobody waits for it.
    Nobody,
    /// Whoever left the message in the engine.
    Message(i64),
}

impl Reply {
    /// The message in the engine that waits for the answer.
    fn message(&self) -> Option<i64> {
        match self {
            Reply::Message(message) => Some(*message),
            Reply::Here(_) | Reply::Nobody => None,
        }
    }

    /// Answers somebody in this process; whoever left a message was answered with the record.
    fn here(self, result: Result<Sent>) -> Result<()> {
        if let Reply::Here(reply) = self {
            let _ = reply.send(result.clone());
        }
        result.map(drop)
    }
}

/// A message in the engine.
#[derive(Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(crate) request: Request,
    pub(crate) by: By,
}

/// The moment of a request: its time, and the timers that fired before it.
struct Moment {
    at_ms: i64,
    fired: Vec<Fired>,
    /// Those that would have taken the event before the timers fired.
    takers: Takers,
}

impl Actor {
    /// Does what is asked, after the timers that are due.
    pub(crate) async fn ask(&mut self, request: Request, by: By, reply: Reply) -> Result<()> {
        let takers = match &request {
            Request::Send(sending) => self.live.takers(&sending.event),
            _ => Takers::default(),
        };
        let at_ms = self.now_ms();
        let fired = self.fire_due(at_ms).await?;
        let moment = Moment { at_ms, fired, takers };
        let admitted = match request {
            Request::Send(sending) => return self.take(sending, by, reply, moment).await,
            Request::Pause if self.live.state.is_paused() => Err(Refused::new("the run is paused already")),
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

    /// Records what was admitted and answers, or only answers.
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

    /// An event of somebody.
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
        self.settle(admitted, reply, moment).await
    }

    /// What became of an earlier event with the same id.
    fn repeated(&self, sending: &Sending) -> Result<Option<Answer>> {
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

    /// Of all events, a run that stands still takes the one by which it is aborted: it goes on and is aborted in one, so that nothing begins which
    /// was waiting for it to go on. Where what came in meanwhile has ended it, that is its end.
    async fn abort_paused(&mut self, sending: Sending, by: By, reply: Reply, moment: Moment) -> Result<()> {
        let paused = Refused::new(format!("run {} is paused; resume it first, or abort it", self.live.name));
        if !self.live.is_aborted_by(&sending.event) {
            return self.answer(Err(paused), reply).await;
        }
        let (shared, before) = (Arc::clone(&self.shared), self.live.clone());
        let (now_ms, is_watched) = (moment.at_ms, shared.is_watched());
        let turn = |live: &mut Live, entry| live.turn(entry, now_ms, &shared.registry, is_watched, &mut |_, _| false);
        let mut turns = vec![turn(&mut self.live, Entry::Resumed { by: by.clone() })?];
        if !self.live.state.is_done() {
            let refused = match self.live.admit(&sending.event, &sending.data, by, sending.id, &shared.registry) {
                Ok(entry) => {
                    turns.push(turn(&mut self.live, entry)?);
                    // A guard may have sent it elsewhere.
                    (!self.live.state.is_done()).then_some(paused)
                }
                Err(refused) => Some(refused),
            };
            if let Some(refused) = refused {
                self.live = before;
                return self.answer(Err(refused), reply).await;
            }
        }
        let (mut after, mut seq, last) = (before.seq, 0, turns.len() - 1);
        for (at, turn) in turns.into_iter().enumerate() {
            let mut append = turn.append;
            (seq, after) = (after + 1, after + append.records.len() as u64);
            let sent = || to_json(&Answer::Ok(Sent::new(seq, moment.fired.clone())));
            append.answer = reply.message().filter(|_| at == last).map(|message| (message, sent()));
            shared.engine.append(self.live.key, seq - 1, self.live.lease, append).await?;
            self.tell_moved(is_watched, turn.moves);
            let is_end = |order: &Order| matches!(order, Order::Cancel(_));
            self.carry_out(turn.orders.into_iter().filter(is_end).collect());
        }
        reply.here(Ok(Sent::new(seq, moment.fired)))
    }

    /// Nothing is taken back beside something that may be writing.
    fn undo(&self, undone: Undone) -> std::result::Result<Entry, Refused> {
        match self.preparing == 0 && self.flights.values().all(|flight| flight.waits) {
            true => Ok(Entry::Undone(undone)),
            false => Err(Refused::new("something is under way in the run; pause it, and wait for that to end")),
        }
    }

    /// Answers a request that led to no record.
    async fn answer(&mut self, answer: Answer, reply: Reply) -> Result<()> {
        match reply {
            Reply::Here(reply) => drop(reply.send(answer.map_err(crate::Error::from))),
            Reply::Nobody => {}
            Reply::Message(message) => self.shared.engine.answer(message, to_json(&answer)).await?,
        }
        Ok(())
    }

    /// Reads the messages that others have left for the run.
    pub(crate) async fn look(&mut self) -> Result<()> {
        for message in self.shared.engine.messages(self.live.key)? {
            let reply = Reply::Message(message.id);
            match serde_json::from_str::<Letter>(&message.body) {
                Ok(letter) => self.ask(letter.request, letter.by, reply).await?,
                Err(error) => self.answer(Err(Refused::new(format!("not understood: {error}"))), reply).await?,
            }
        }
        Ok(())
    }
}

/// Whether a record is of this event. Defaults may have been added to the data.
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

/// An answer as it is left for another process.
pub(crate) fn to_json(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}
