//! One task per run that is being moved. It alone changes the run: everything that happens comes to it as mail, one after the other.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use interlock_activity::{Effect, Outcome, UseGrants, code};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{Append, AttemptResult, By, Entry, Left, Phase, Undone};
use serde::{Deserialize, Serialize};
use tokio::sync::{
    OwnedSemaphorePermit,
    mpsc::{UnboundedReceiver, UnboundedSender},
    oneshot,
};

use crate::{
    Live, Move, News, Order, Refused, Result, Settled, Turn,
    dispatch::{self, Flight, Ready},
    grants,
    recover::{self, Care},
    redaction,
    runtime::Shared,
};

/// A timer so near that the run stays in memory for it.
const NEAR_MS: i64 = 2_000;

/// Something asked of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Take this event.
    Send { event: String, data: Value },
    /// Stand still.
    Pause,
    /// Go on.
    Resume,
    /// A person says yes to something.
    Grant { scope: String, for_ms: Option<u64>, uses: Option<u32> },
    /// Writes are about to be taken back.
    Undo(Undone),
}

/// What a request is answered: the record it became, or why it did not.
pub(crate) type Answer = std::result::Result<u64, Refused>;

/// Whom to answer.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Somebody in this process.
    Here(oneshot::Sender<Result<u64>>),
    /// Whoever left the message in the engine.
    Message(i64),
}

impl Reply {
    /// The message in the engine that waits for the answer.
    fn message(&self) -> Option<i64> {
        match self {
            Reply::Message(message) => Some(*message),
            Reply::Here(_) => None,
        }
    }

    /// Answers somebody in this process; whoever left a message was answered with the record.
    fn here(self, result: Result<u64>) -> Result<()> {
        if let Reply::Here(reply) = self {
            let _ = reply.send(result.clone());
        }
        result.map(drop)
    }
}

/// What an actor is written to.
#[derive(Debug)]
pub(crate) enum Mail {
    /// Something is asked of the run.
    Ask { request: Request, by: By, reply: Reply },
    /// A try can be recorded and begun.
    Ready { id: ActivityId, ready: Ready },
    /// A try ended.
    Ended { id: ActivityId, number: u32, outcome: Box<Outcome> },
    /// A try needs what people have granted.
    UseGrants { order: UseGrants, reply: oneshot::Sender<bool> },
    /// There may be messages in the engine.
    Look,
    /// Begin nothing new, and leave when what is under way has ended.
    Detach,
    /// Stop what is under way.
    StopAttempts,
}

/// A message in the engine.
#[derive(Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(crate) request: Request,
    pub(crate) by: By,
}

pub(crate) struct Actor {
    shared: Arc<Shared>,
    live: Live,
    mail: UnboundedReceiver<Mail>,
    to_self: UnboundedSender<Mail>,
    flights: BTreeMap<ActivityId, Flight>,
    /// Tries being made ready.
    preparing: usize,
    /// Permits of tries that are being recorded.
    permits: BTreeMap<ActivityId, OwnedSemaphorePermit>,
    is_detaching: bool,
    /// Whether whoever leaves has not even waited for what was under way.
    is_stopping: bool,
}

impl Actor {
    pub(crate) fn new(
        shared: Arc<Shared>,
        live: Live,
        mail: UnboundedReceiver<Mail>,
        to_self: UnboundedSender<Mail>,
    ) -> Self {
        Actor {
            shared,
            live,
            mail,
            to_self,
            flights: BTreeMap::new(),
            preparing: 0,
            permits: BTreeMap::new(),
            is_detaching: false,
            is_stopping: false,
        }
    }

    /// Moves the run until it rests, ends or cannot be recorded any more. `orders` are those of a turn that is recorded already.
    pub(crate) async fn work(
        mut self,
        orders: Vec<Order>,
        permits: BTreeMap<ActivityId, OwnedSemaphorePermit>,
        is_taken_up: bool,
    ) {
        self.permits = permits;
        let result = self.work_on(orders, is_taken_up).await;
        let run = Arc::clone(&self.live.name);
        // Whatever is still under way is stopped: its outcome could not be recorded.
        self.flights.values().for_each(Flight::cancel);
        match result {
            Ok(settled) => self.shared.tell(News::Settled { run, how: settled }),
            Err(error) => {
                self.shared.forget(self.live.key);
                self.shared.tell(News::Stopped { run, error });
            }
        }
    }

    async fn work_on(&mut self, orders: Vec<Order>, is_taken_up: bool) -> Result<Settled> {
        self.carry_out(orders);
        if is_taken_up {
            self.take_care().await?;
        }
        loop {
            if self.is_at_rest() {
                self.let_go().await;
                if self.shared.forget_if(self.live.key, || self.mail.is_empty()) {
                    return self.leave().await;
                }
            }
            let due = self.live.timers.values().min().copied();
            let pause =
                due.map(|due| Duration::from_millis(due.saturating_sub(self.shared.clock.now_ms()).max(0) as u64));
            tokio::select! {
                biased;
                mail = self.mail.recv() => match mail {
                    Some(mail) => self.read(mail).await?,
                    None => return self.leave().await,
                },
                () = sleep(pause) => self.fire().await?,
            }
        }
    }

    /// Whether only somebody outside can make anything happen soon.
    fn is_at_rest(&self) -> bool {
        if self.is_detaching {
            return self.preparing == 0 && self.flights.values().all(|flight| flight.waits);
        }
        if !self.flights.is_empty() || self.preparing > 0 {
            return false;
        }
        let now_ms = self.shared.clock.now_ms();
        let phase = self.live.phase(&self.shared.registry);
        let is_due_soon = self.live.timers.values().any(|due| *due <= now_ms + NEAR_MS);
        phase.is_over() || phase == Phase::Paused || (phase == Phase::Waiting && !is_due_soon)
    }

    async fn leave(&mut self) -> Result<Settled> {
        self.shared.engine.release(self.live.key, self.live.lease).await?;
        Ok(Settled { phase: self.live.phase(&self.shared.registry), seq: self.live.seq })
    }

    /// What was held for a run that is over is let go, before anybody hears that it is.
    async fn let_go(&self) {
        if self.live.phase(&self.shared.registry).is_over() {
            let (shared, run) = (Arc::clone(&self.shared), Arc::clone(&self.live.name));
            let _ = tokio::task::spawn_blocking(move || shared.registry.iter().for_each(|it| it.run_ended(&run))).await;
        }
    }

    async fn read(&mut self, mail: Mail) -> Result<()> {
        match mail {
            Mail::Ask { request, by, reply } => self.ask(request, by, reply).await,
            Mail::Ready { id, ready } => self.ready(id, ready).await,
            Mail::Ended { id, number, outcome } => self.ended(id, number, *outcome).await,
            Mail::UseGrants { order, reply } => self.use_grants(order, reply).await,
            Mail::Look => self.look().await,
            Mail::Detach => {
                self.is_detaching = true;
                Ok(())
            }
            Mail::StopAttempts => {
                self.is_stopping = true;
                self.flights.values().for_each(Flight::cancel);
                Ok(())
            }
        }
    }

    /// Records something that happened, then does what follows.
    async fn happen(&mut self, entry: Entry, answer: Option<i64>) -> Result<u64> {
        let is_watched = self.shared.is_watched();
        let turn = self.turn(entry, is_watched)?;
        let (mut append, orders, moves) = (turn.append, turn.orders, turn.moves);
        let seq = self.live.seq + 1 - append.records.len() as u64;
        append.answer = answer.map(|message| (message, to_json(&Answer::Ok(seq))));
        self.commit(append).await?;
        self.tell_moved(is_watched, moves);
        self.carry_out(orders);
        Ok(seq)
    }

    fn turn(&mut self, entry: Entry, is_watched: bool) -> Result<Turn> {
        let (shared, permits, is_detaching) = (Arc::clone(&self.shared), &mut self.permits, self.is_detaching);
        let now_ms = shared.clock.now_ms();
        self.live.turn(entry, now_ms, &shared.registry, is_watched, &mut |live, id| {
            !is_detaching && try_at_once(&shared, live, id, permits)
        })
    }

    async fn commit(&mut self, append: Append) -> Result<()> {
        let after = self.live.seq - append.records.len() as u64;
        self.shared.engine.append(self.live.key, after, self.live.lease, append).await?;
        Ok(())
    }

    fn carry_out(&mut self, orders: Vec<Order>) {
        for order in orders {
            match order {
                Order::Start(id) => self.begin(id),
                Order::Prepare(id) => self.prepare(id, 0),
                Order::Cancel(id) => self.flights.get(&id).into_iter().for_each(Flight::cancel),
            }
        }
    }

    fn begin(&mut self, id: ActivityId) {
        let Some(permit) = self.permits.remove(&id) else { return };
        if let Some(flight) = dispatch::begin(&self.shared, &self.live, id, permit, self.to_self.clone()) {
            self.flights.insert(id, flight);
        }
    }

    fn prepare(&mut self, id: ActivityId, after_ms: u64) {
        if !self.is_detaching {
            self.preparing += 1;
            dispatch::prepare(&self.shared, &self.live, id, after_ms, self.to_self.clone());
        }
    }

    async fn ready(&mut self, id: ActivityId, ready: Ready) -> Result<()> {
        self.preparing -= 1;
        if self.is_detaching || !self.live.activities.contains_key(&id) {
            return Ok(());
        }
        let snapshot = match ready.snapshot {
            Ok(snapshot) => snapshot,
            Err(why) => {
                let why = self.shared.redactor.text(&why).into_owned();
                let entry =
                    recover::cut_off(&self.live, id, code::FAILED, &format!("the workspace could not be kept: {why}"));
                return self.happen(entry, None).await.map(drop);
            }
        };
        let now_ms = self.shared.clock.now_ms();
        let shared = Arc::clone(&self.shared);
        let Some(append) = self.live.trying(id, snapshot, now_ms, &shared.registry)? else { return Ok(()) };
        self.commit(append).await?;
        self.permits.insert(id, ready.permit);
        self.begin(id);
        Ok(())
    }

    /// A try ended. What it says counts only if it fits what the machine takes; what comes too late is recorded and moves nothing.
    async fn ended(&mut self, id: ActivityId, number: u32, outcome: Outcome) -> Result<()> {
        self.flights.remove(&id);
        // Left as a crash would leave it, for whoever takes the run up: what only reads is tried again, and what was written is put back. What is
        // done elsewhere was stopped, which is more than would be known of it then.
        let is_elsewhere = self.live.effect(id, &self.shared.registry) == Effect::External;
        if self.is_stopping && outcome.is_cancelled() && !is_elsewhere {
            return Ok(());
        }
        if let Some(why) = outcome.not_kept() {
            return Err(interlock_journal::Error::Stopped(why).into());
        }
        if let Some(why) = outcome.left_to_person() {
            let why = self.shared.redactor.text(&why).into_owned();
            let left = Left { activity: id, number, why, evidence: outcome.evidence };
            return self.happen(Entry::Left(left), None).await.map(drop);
        }
        // First of all: from here on nobody sees anything else, the machine included.
        let result = self.believe(id, redaction::result(&self.shared.redactor, outcome.result));
        let entry = Entry::Outcome { activity: id, number, result, evidence: outcome.evidence, by: None };
        self.happen(entry, None).await.map(drop)
    }

    fn believe(&self, id: ActivityId, result: AttemptResult) -> AttemptResult {
        let (AttemptResult::Signal { name, data }, Some(begun)) = (&result, self.live.activities.get(&id)) else {
            return result;
        };
        match self.live.loaded.admit_signal(begun.invoke, name, data) {
            Ok(data) => AttemptResult::Signal { name: name.clone(), data },
            Err(wrong) => {
                let message = format!("it ended with `{name}`, which does not fit: {}", wrong.join("; "));
                Outcome::error(code::BAD_OUTCOME, message).result
            }
        }
    }

    async fn fire(&mut self) -> Result<()> {
        let now_ms = self.shared.clock.now_ms();
        let due = self.live.timers.iter().filter(|(_, due)| **due <= now_ms).min_by_key(|(id, due)| (**due, **id));
        let Some((timer, _)) = due else { return Ok(()) };
        self.happen(Entry::Timer { timer: *timer }, None).await.map(drop)
    }

    async fn ask(&mut self, request: Request, by: By, reply: Reply) -> Result<()> {
        let request = match request {
            Request::Send { event, data } if self.live.state.is_paused() => {
                return self.abort_paused(&event, &data, by, reply).await;
            }
            other => other,
        };
        let admitted = match request {
            Request::Send { event, data } => self.live.admit(&event, &data, by, &self.shared.registry),
            Request::Pause if self.live.state.is_paused() => Err(Refused::new("the run is paused already")),
            Request::Pause if self.live.state.is_done() => Err(Refused::new("the run has ended")),
            Request::Resume if !self.live.state.is_paused() => Err(Refused::new("the run is not paused")),
            Request::Pause => Ok(Entry::Paused { by }),
            Request::Resume => Ok(Entry::Resumed { by }),
            Request::Grant { scope, for_ms, uses } => {
                grants::admit(&self.live, scope, for_ms, uses, by, self.shared.clock.now_ms())
            }
            Request::Undo(undone) => self.undo(undone),
        };
        let entry = match admitted {
            Ok(entry) => entry,
            Err(refused) => return self.refuse(refused, reply).await,
        };
        let result = self.happen(entry, reply.message()).await;
        reply.here(result)
    }

    /// Of all events, a run that stands still takes the one by which it is aborted: it goes on and is aborted in one, so that nothing begins which
    /// was waiting for it to go on. Where what came in meanwhile has ended it, that is its end.
    async fn abort_paused(&mut self, event: &str, data: &Value, by: By, reply: Reply) -> Result<()> {
        let paused = Refused::new(format!("run {} is paused; resume it first, or abort it", self.live.name));
        if !self.live.is_aborted_by(event) {
            return self.refuse(paused, reply).await;
        }
        let (shared, before) = (Arc::clone(&self.shared), self.live.clone());
        let (now_ms, is_watched) = (shared.clock.now_ms(), shared.is_watched());
        let turn = |live: &mut Live, entry| live.turn(entry, now_ms, &shared.registry, is_watched, &mut |_, _| false);
        let mut turns = vec![turn(&mut self.live, Entry::Resumed { by: by.clone() })?];
        if !self.live.state.is_done() {
            let refused = match self.live.admit(event, data, by, &shared.registry) {
                Ok(entry) => {
                    turns.push(turn(&mut self.live, entry)?);
                    // A guard may have sent it elsewhere.
                    (!self.live.state.is_done()).then_some(paused)
                }
                Err(refused) => Some(refused),
            };
            if let Some(refused) = refused {
                self.live = before;
                return self.refuse(refused, reply).await;
            }
        }
        let (mut after, mut seq, last) = (before.seq, 0, turns.len() - 1);
        for (at, turn) in turns.into_iter().enumerate() {
            let mut append = turn.append;
            (seq, after) = (after + 1, after + append.records.len() as u64);
            append.answer = reply.message().filter(|_| at == last).map(|message| (message, to_json(&Answer::Ok(seq))));
            shared.engine.append(self.live.key, seq - 1, self.live.lease, append).await?;
            self.tell_moved(is_watched, turn.moves);
            let is_end = |order: &Order| matches!(order, Order::Cancel(_));
            self.carry_out(turn.orders.into_iter().filter(is_end).collect());
        }
        reply.here(Ok(seq))
    }

    fn tell_moved(&self, is_watched: bool, moves: Vec<Move>) {
        if is_watched {
            self.shared.tell(News::Moved {
                run: Arc::clone(&self.live.name),
                seq: self.live.seq,
                moves: moves.into(),
                phase: self.live.phase(&self.shared.registry),
                place: self.live.place().into(),
            });
        }
    }

    /// What is granted is used and recorded before whoever needs it goes on.
    async fn use_grants(&mut self, order: UseGrants, reply: oneshot::Sender<bool>) -> Result<()> {
        let used = self.live.grants.cover(&order, self.shared.clock.now_ms());
        let is_granted = used.is_some();
        for used in used.into_iter().flatten() {
            self.happen(Entry::GrantUsed(used), None).await?;
        }
        let _ = reply.send(is_granted);
        Ok(())
    }

    /// Nothing is taken back beside something that may be writing.
    fn undo(&self, undone: Undone) -> std::result::Result<Entry, Refused> {
        match self.preparing == 0 && self.flights.values().all(|flight| flight.waits) {
            true => Ok(Entry::Undone(undone)),
            false => Err(Refused::new("something is under way in the run; pause it, and wait for that to end")),
        }
    }

    async fn refuse(&mut self, refused: Refused, reply: Reply) -> Result<()> {
        match reply {
            Reply::Here(reply) => drop(reply.send(Err(refused.into()))),
            Reply::Message(message) => self.shared.engine.answer(message, to_json(&Answer::Err(refused))).await?,
        }
        Ok(())
    }

    async fn look(&mut self) -> Result<()> {
        for message in self.shared.engine.messages(self.live.key)? {
            match serde_json::from_str::<Letter>(&message.body) {
                Ok(letter) => self.ask(letter.request, letter.by, Reply::Message(message.id)).await?,
                Err(error) => {
                    self.refuse(Refused::new(format!("not understood: {error}")), Reply::Message(message.id)).await?;
                }
            }
        }
        Ok(())
    }

    /// Looks after what was under way when the run was left.
    async fn take_care(&mut self) -> Result<()> {
        self.end_leftovers().await;
        for care in recover::care(&self.live, &self.shared.registry) {
            match care {
                Care::Try { id, after_ms } => self.prepare(id, after_ms),
                Care::Fail { id, code, message } => {
                    let entry = recover::cut_off(&self.live, id, code, &message);
                    self.happen(entry, None).await?;
                }
                Care::Restore { id, snapshot } => self.restore(id, snapshot).await?,
            }
        }
        Ok(())
    }

    /// Programs of tries that were cut off may still be there: nothing is put back or tried again beside them.
    async fn end_leftovers(&self) {
        let begun = self.live.activities.iter().filter(|(_, begun)| begun.number > 0 && !begun.is_reported);
        let files = begun.map(|(id, begun)| dispatch::live_file(&self.shared, &self.live.name, *id, begun.number));
        // Whoever starts a program makes that file first.
        let files: Vec<_> = files.filter(|file| file.exists()).collect();
        if files.is_empty() {
            return;
        }
        let ended = dispatch::blocking(&self.shared, move |_| {
            files.iter().for_each(|file| {
                interlock_program::end_leftovers(file);
                let _ = std::fs::remove_file(file);
            });
            Ok(())
        });
        let _ = ended.await;
    }

    /// Puts the workspace back. Where that fails the machine is told so: what it left behind is then not known.
    async fn restore(&mut self, id: ActivityId, snapshot: String) -> Result<()> {
        let folder = self.live.folder.clone();
        let restored =
            dispatch::blocking(&self.shared, move |shared| shared.snapshots.restore(&folder, &snapshot)).await;
        let (code, message) = match restored {
            Ok(done) => (code::INTERRUPTED, format!("it was cut off, and the workspace was put back: {done}")),
            Err(why) => {
                (code::UNKNOWN_OUTCOME, format!("it was cut off, and the workspace could not be put back: {why}"))
            }
        };
        let message = self.shared.redactor.text(&message).into_owned();
        let entry = recover::cut_off(&self.live, id, code, &message);
        self.happen(entry, None).await.map(drop)
    }
}

/// Whether a try can be recorded together with what led to it: it writes nothing that would have to be kept first, and it is its turn.
pub(crate) fn try_at_once(
    shared: &Shared,
    live: &Live,
    id: ActivityId,
    permits: &mut BTreeMap<ActivityId, OwnedSemaphorePermit>,
) -> bool {
    if live.effect(id, &shared.registry) == Effect::Write {
        return false;
    }
    match Arc::clone(&shared.permits).try_acquire_owned() {
        Ok(permit) => permits.insert(id, permit).is_none(),
        Err(_) => false,
    }
}

fn to_json(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

async fn sleep(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}
