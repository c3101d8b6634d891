//! Attempts that wait for the answer of a person. `questions.rs` keeps the questions themselves.

use interlock_activity::Question;
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{Asked, Entry, Unanswered};
use tokio::sync::oneshot;

use crate::{
    Refused, Result,
    actor::{Actor, LEAVING},
    redaction,
};

/// The most questions of a run that can be open at once.
const OPEN_MAX: usize = 100;

/// The longest time for an answer: 30 days.
const TIMEOUT_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Receives the data of the answer, or `None` if there is none.
pub(crate) type AnswerSender = oneshot::Sender<Option<Value>>;

/// An attempt that waits for the answer to one question.
#[derive(Debug)]
pub(crate) struct PendingAnswer {
    to: AnswerSender,
    until_ms: i64,
}

impl Actor {
    /// Records a question of a running attempt. An attempt that is not running, or that nobody can answer, gets no
    /// answer at once.
    pub(crate) async fn question(&mut self, question: Question, to: AnswerSender) -> Result<()> {
        let now_ms = self.now_ms();
        self.fire_due(now_ms).await?;
        if !self.may_ask(&question) {
            let _ = to.send(None);
            return Ok(());
        }
        let id = self.live.question_id(question.activity, question.number, &question.id);
        if let Some(why) = self.unanswerable(&question) {
            let (activity, number) = (question.activity, question.number);
            self.record(Entry::Unanswered(Unanswered { activity, number, id, why }), now_ms, None).await?;
            let _ = to.send(None);
            return Ok(());
        }
        let timeout_ms = i64::try_from(question.timeout_ms.min(TIMEOUT_MS_MAX)).unwrap_or(i64::MAX);
        let asked = self.asked(question, id, now_ms.saturating_add(timeout_ms));
        let (key, until_ms) = ((asked.activity, asked.id.clone()), asked.until_ms);
        self.record(Entry::Asked(asked), now_ms, None).await?;
        self.pending.insert(key, PendingAnswer { to, until_ms });
        Ok(())
    }

    /// Returns true if this attempt is running and nothing has stopped it.
    fn may_ask(&self, question: &Question) -> bool {
        let begun = self.live.activities.get(&question.activity);
        begun.is_some_and(|begun| begun.number == question.number) && self.attempts.is_running(question.activity)
    }

    /// Returns the reason why no person can answer a question, if there is one.
    fn unanswerable(&self, question: &Question) -> Option<String> {
        let (event, chart) = (&question.event, self.live.loaded.chart());
        if self.is_detaching {
            return Some(LEAVING.to_owned());
        }
        if self.pending.len() >= OPEN_MAX {
            return Some(format!("{OPEN_MAX} questions are open already"));
        }
        let known = chart.find_event(event);
        let is_handled = known.is_some_and(|known| {
            self.live.loaded.machine.handled(&self.live.state.configuration).any(|handled| handled == known)
        });
        (!is_handled).then(|| format!("the machine does not accept `{event}` in {}", self.live.place()))
    }

    fn asked(&self, question: Question, id: String, until_ms: i64) -> Asked {
        let Question { activity, number, event, text, shows, .. } = question;
        let text = self.shared.redactor.text(&text).into_owned();
        let shows = redaction::value(&self.shared.redactor, shows);
        Asked { activity, number, id, event, text, shows, until_ms }
    }

    /// Ends a question whose attempt no longer waits for the answer.
    pub(crate) async fn withdraw(&mut self, activity: ActivityId, number: u32, wanted: &str) -> Result<()> {
        let own = format!("{activity}.{number}.{wanted}");
        let is_abandoned = |id: &str| {
            let key = (activity, id.to_owned());
            self.pending.get(&key).is_some_and(|pending| pending.to.is_closed())
        };
        let Some(id) = [wanted, &own].into_iter().find(|id| is_abandoned(id)) else { return Ok(()) };
        let key = (activity, id.to_owned());
        self.end_question(key, "the activity withdrew it").await
    }

    /// Ends the questions whose time is over at `at_ms`.
    pub(crate) async fn expire_questions(&mut self, at_ms: i64) -> Result<()> {
        let is_late = |pending: &PendingAnswer| pending.until_ms <= at_ms;
        let late: Vec<_> =
            self.pending.iter().filter(|(_, pending)| is_late(pending)).map(|(key, _)| key.clone()).collect();
        for key in late {
            self.end_question(key, "nobody answered in time").await?;
        }
        Ok(())
    }

    /// Ends all open questions, because their attempt has ended.
    pub(crate) async fn close_questions(&mut self, why: &str) -> Result<()> {
        for key in self.pending.keys().cloned().collect::<Vec<_>>() {
            self.end_question(key, why).await?;
        }
        Ok(())
    }

    async fn end_question(&mut self, key: (ActivityId, String), why: &str) -> Result<()> {
        let Some(pending) = self.pending.remove(&key) else { return Ok(()) };
        if let Some(begun) = self.live.activities.get(&key.0) {
            let ended = Unanswered { activity: key.0, number: begun.number, id: key.1, why: why.to_owned() };
            self.record(Entry::Unanswered(ended), self.now_ms(), None).await?;
        }
        let _ = pending.to.send(None);
        Ok(())
    }

    /// Refuses an answer if no attempt waits for it: the question is of an attempt that a crash ended.
    pub(crate) fn is_awaited(&self, entry: &Entry) -> std::result::Result<(), Refused> {
        match self.live.answer_of(entry) {
            Some((key, _)) if !self.pending.contains_key(&key) => {
                Err(Refused::new(format!("the attempt that asked question `{}` has ended", key.1)))
            }
            _ => Ok(()),
        }
    }

    /// Passes the data of a recorded event to the attempt that asked for it.
    pub(crate) fn deliver_answer(&mut self, key: &(ActivityId, String), data: Value) {
        if let Some(pending) = self.pending.remove(key) {
            let _ = pending.to.send(Some(data));
        }
    }

    /// Forgets the questions of an activity whose attempt has ended or was cancelled: it gets no answer.
    pub(crate) fn forget_questions(&mut self, id: ActivityId) {
        self.pending.retain(|(activity, _), _| *activity != id);
    }

    /// Returns the time at which the next question ends without an answer.
    pub(crate) fn next_expiry_ms(&self) -> Option<i64> {
        self.pending.values().map(|pending| pending.until_ms).min()
    }
}
