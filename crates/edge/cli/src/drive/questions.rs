//! Questions of running attempts: they are shown and answered while the run goes on.
//!
//! On a terminal a form asks. Without one, the command prints how to answer from another terminal and stays until the
//! attempt ends: the attempt goes on without an answer when the time for it is over.

use interlock_core::ActivityId;
use interlock_journal::Asked;
use interlock_runtime::{Offer, Offers, OpenQuestion};
use serde_json::{Value as Json, json};

use super::{Driver, Filled, TICK, interrupted};
use crate::{about, dialog::Dialog, failure::Failure, follow::Step, form::FormAnswer, waiting};

/// A question within a run: the activity and the attempt that ask, and the question's id.
pub(super) type QuestionKey = (ActivityId, u32, String);

impl Driver<'_> {
    /// Shows every new question of a running attempt, and asks it if a person is at the terminal.
    pub(super) async fn hear_questions(&mut self) -> Result<(), Failure> {
        while let Some(key) = self.next_question() {
            self.shown_questions.insert(key.clone());
            let offers = self.follower.offers();
            let Some(question) = offers.asked.iter().find(|question| question.id == key.2) else { continue };
            if self.is_interactive && self.interrupts == 0 {
                self.ask_question(&key, &offers, question).await?;
            } else {
                self.tell_question(&offers, question);
            }
        }
        Ok(())
    }

    fn next_question(&self) -> Option<QuestionKey> {
        let mut open = self.follower.live.open_questions().map(key);
        open.find(|key| !self.shown_questions.contains(key))
    }

    fn tell_question(&mut self, offers: &Offers, question: &OpenQuestion) {
        let text = waiting::question(&self.follower.head.name, offers, question);
        self.progress.say(&text);
    }

    /// Asks a question with a form and sends the answer. If the person does not want to answer now, prints how to
    /// answer later.
    async fn ask_question(
        &mut self,
        key: &QuestionKey,
        offers: &Offers,
        question: &OpenQuestion,
    ) -> Result<(), Failure> {
        self.progress.say(&about::of_question(&self.follower.head.name, question));
        let Some(offer) = offers.events.iter().find(|offer| offer.event == question.event) else { return Ok(()) };
        let form = Offers { events: vec![without_id(offer)], ..Offers::default() };
        let (filled, steps) = self.fill_in_question(key, &question.state, &form).await?;
        self.show_steps(&steps);
        match filled {
            Filled::Answer(FormAnswer::Event(event, data)) => {
                if let Err(error) = self.send(FormAnswer::Event(event, with_id(data, &question.id))).await {
                    Failure::from(error).tell(self.output);
                }
            }
            Filled::Closed => self.progress.say("The question is closed."),
            Filled::Answer(FormAnswer::Grant(_)) | Filled::Nothing => self.tell_question(offers, question),
        }
        Ok(())
    }

    /// Shows a form until it is answered or its question is closed. Returns the records that were added meanwhile.
    async fn fill_in_question(
        &mut self,
        key: &QuestionKey,
        state: &str,
        form: &Offers,
    ) -> Result<(Filled, Vec<Step>), Failure> {
        let dialog = Dialog::open(state, form)?;
        let mut answer = tokio::task::spawn_blocking(dialog.answer());
        let mut steps = Vec::new();
        loop {
            tokio::select! {
                answer = &mut answer => {
                    dialog.close();
                    return Ok((answer.ok().flatten().map_or(Filled::Nothing, Filled::Answer), steps));
                }
                order = interrupted(&mut self.signals) => {
                    dialog.close();
                    self.interrupt(order);
                    return Ok((Filled::Nothing, steps));
                }
                () = tokio::time::sleep(TICK) => {}
            }
            steps.extend(self.follower.catch_up()?);
            if !self.follower.live.open_questions().any(|asked| self::key(asked) == *key) {
                dialog.close();
                return Ok((Filled::Closed, steps));
            }
        }
    }

    fn show_steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.progress.step(step);
            self.reason = step.moves.last().map_or(self.reason.take(), |last| last.reason.clone());
        }
    }
}

fn key(asked: &Asked) -> QuestionKey {
    (asked.activity, asked.number, asked.id.clone())
}

/// Returns the offer without the field `id`: the form knows which question it asks.
fn without_id(offer: &Offer) -> Offer {
    let mut data = offer.data.clone();
    if let Some(fields) = data.get_mut("properties").and_then(Json::as_object_mut) {
        fields.remove("id");
    }
    if let Some(required) = data.get_mut("required").and_then(Json::as_array_mut) {
        required.retain(|name| name != "id");
    }
    Offer { data, ..offer.clone() }
}

fn with_id(mut data: Json, id: &str) -> Json {
    if let Some(fields) = data.as_object_mut() {
        fields.insert("id".to_owned(), json!(id));
    }
    data
}
