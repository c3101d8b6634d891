//! The one way in which a run changes: an entry is folded into the run, its records become durable, and only then are
//! its orders carried out. A new run, an event, an outcome, a timer, an abort and a resumption all take it.

use std::sync::Arc;

use interlock_core::ActivityId;
use interlock_journal::{Append, Engine, Entry, Evidence, Head, Lease, NewRun, Unchained};

use crate::{
    AttemptOrder, Fired, Move, News, Result, Sent, Turn,
    actor::Actor,
    attempts::AttemptInput,
    dispatch,
    live::Beginning,
    place::Place,
    request::{RequestResult, to_json},
    views,
};

/// The message in the engine that a turn answers, and the timers that fired before it.
pub(crate) type MessageAnswer = (i64, Vec<Fired>);

impl Actor {
    /// Creates the run with its first entry.
    pub(crate) async fn create(&mut self, created: Entry) -> Result<Head> {
        let at_ms = self.now_ms();
        let turn = self.turn(created, at_ms);
        let chart = self.live.loaded.chart();
        let new = NewRun {
            name: self.live.name.to_string(),
            machine: chart.id.clone(),
            definition: self.live.loaded.definition.hash.clone(),
            parent: self.live.parent.clone(),
            claim: true,
            first: append(&turn, &*self.shared.engine)?,
        };
        let head = self.shared.engine.create(new).await?;
        (self.live.key, self.live.lease) = (head.key, Lease { epoch: head.epoch });
        self.shared.enlist(head.key, self.to_self.clone());
        self.finish(turn);
        Ok(head)
    }

    /// Records an entry together with the answer to its request, if there is one, and carries out its orders.
    pub(crate) async fn record(&mut self, entry: Entry, at_ms: i64, answer: Option<MessageAnswer>) -> Result<u64> {
        let turn = self.turn(entry, at_ms);
        self.commit(turn, answer).await
    }

    /// Makes a turn durable, then carries out its orders. Returns the number of its first record.
    pub(crate) async fn commit(&mut self, turn: Turn, answer: Option<MessageAnswer>) -> Result<u64> {
        let mut append = append(&turn, &*self.shared.engine)?;
        let seq = turn.seq;
        append.answer = answer.map(|(message, fired)| (message, to_json(&RequestResult::Ok(Sent::new(seq, fired)))));
        self.shared.engine.append(self.live.key, seq - 1, self.live.lease, append).await?;
        views::update(&self.shared, &self.live, &self.views).await;
        self.finish(turn);
        Ok(seq)
    }

    /// Folds an entry into the run. The run must be discarded or restored if the turn is not committed.
    pub(crate) fn turn(&mut self, entry: Entry, at_ms: i64) -> Turn {
        let shared = Arc::clone(&self.shared);
        let (attempts, is_leaving) = (&mut self.attempts, self.is_detaching);
        self.live.turn(entry, at_ms, &shared.registry, shared.is_watched(), &mut |live, id| {
            let Some(activity) = live.activity_of(id, &shared.registry) else { return Beginning::Prepare };
            if !activity.takes(live.activity_name(id), &live.folder) {
                return Beginning::Person;
            }
            // A write needs a snapshot first, and a run that is being left starts nothing.
            if is_leaving || live.may_write(id, &shared.registry) {
                return Beginning::Prepare;
            }
            match Place::try_take(&shared.permits, activity.uses_cores()) {
                Some(place) => {
                    attempts.apply(id, AttemptInput::Admit(place));
                    Beginning::AtOnce
                }
                None => Beginning::Prepare,
            }
        })
    }

    /// Announces a durable turn and carries out its orders.
    fn finish(&mut self, turn: Turn) {
        self.tell_moved(turn.moves);
        if let Some((key, data)) = turn.answer {
            self.deliver_answer(&key, data);
        }
        self.carry_out(turn.orders);
    }

    fn carry_out(&mut self, orders: Vec<AttemptOrder>) {
        for order in orders {
            match order {
                AttemptOrder::Start(id) => self.begin(id),
                AttemptOrder::Prepare(id) => self.prepare(id, 0),
                AttemptOrder::Cancel(id) => {
                    self.attempts.apply(id, AttemptInput::Stop);
                    self.forget_questions(id);
                    self.end_child(id);
                }
            }
        }
    }

    /// Starts an attempt that is recorded.
    fn begin(&mut self, id: ActivityId) {
        let Some(place) = self.attempts.admitted(id).cloned() else { return };
        match dispatch::begin(&self.shared, &self.live, id, place, self.to_self.clone()) {
            Some(attempt) => self.attempts.apply(id, AttemptInput::Start(attempt)),
            None => self.attempts.apply(id, AttemptInput::Stop),
        }
    }

    fn tell_moved(&self, moves: Vec<Move>) {
        if self.shared.is_watched() {
            self.shared.tell(News::Moved {
                run: Arc::clone(&self.live.name),
                seq: self.live.seq,
                moves: moves.into(),
                phase: self.live.phase(&self.shared.registry),
                place: self.live.place().into(),
            });
        }
    }
}

/// Returns the form in which the engine stores a turn. Entries that are too big for a record become evidence.
fn append(turn: &Turn, engine: &dyn Engine) -> Result<Append> {
    let record = |entry| Ok(engine.record(turn.at_ms, entry)?);
    let records: Vec<Unchained> = turn.entries.iter().map(record).collect::<Result<_>>()?;
    let evidence = turn.entries.iter().enumerate();
    let evidence =
        evidence.flat_map(|(at, entry)| entry.evidence().iter().map(move |file| (at, Evidence::clone(file))));
    Ok(Append {
        records,
        evidence: evidence.collect(),
        phase: turn.phase,
        place: turn.place.clone(),
        snapshot: turn.snapshot.clone(),
        timers: turn.timers.clone(),
        answer: None,
    })
}
