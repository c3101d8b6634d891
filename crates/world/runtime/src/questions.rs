//! The open questions of a run, as its records tell them.
//!
//! A running attempt asks a person with `Host::ask`. The question is a record, and so is its answer: an event with the
//! question's id in its data. So every process can show the open questions and answer them; the attempt itself waits in
//! the process that runs it (`asking.rs`).
//!
//! A question ends with its answer, with its deadline, or with its attempt. After a crash it ends when the attempt is
//! retried or reported.

use interlock_chart::{
    Value,
    model::{Chart, Event},
};
use interlock_core::ActivityId;
use interlock_journal::{Asked, Entry};

use crate::{Live, Refused};

/// The field of an answer that names the question.
const ID: &str = "id";

impl Live {
    /// Returns the questions that running attempts ask, oldest first within an activity.
    pub fn open_questions(&self) -> impl Iterator<Item = &Asked> {
        self.activities.values().flat_map(|begun| &begun.questions)
    }

    /// Applies an entry to the open questions. An answer is applied only after the machine has taken its event.
    pub(crate) fn fold_questions(&mut self, entry: &Entry) {
        match entry {
            Entry::Asked(asked) => {
                if let Some(begun) = self.activities.get_mut(&asked.activity) {
                    begun.questions.push(asked.clone());
                }
            }
            Entry::Unanswered(ended) => self.close_question(ended.activity, &ended.id),
            Entry::Attempt { activity, .. } => {
                self.activities.get_mut(activity).into_iter().for_each(|begun| begun.questions.clear());
            }
            Entry::Event { event, data, .. } => {
                if let Some((activity, id)) = self.answered_by(event, data) {
                    self.close_question(activity, &id);
                }
            }
            _ => {}
        }
    }

    fn close_question(&mut self, activity: ActivityId, id: &str) {
        if let Some(begun) = self.activities.get_mut(&activity) {
            begun.questions.retain(|asked| asked.id != id);
        }
    }

    /// Returns the open question that an event answers: the activity that asks, and the question's id.
    pub(crate) fn answered_by(&self, event: &str, data: &Value) -> Option<(ActivityId, String)> {
        let id = data.get(ID)?.as_str()?;
        let asked = self.open_questions().find(|asked| asked.event == event && asked.id == id)?;
        Some((asked.activity, asked.id.clone()))
    }

    /// Returns the question that an entry answers, with the answer.
    pub(crate) fn answer_of(&self, entry: &Entry) -> Option<((ActivityId, String), Value)> {
        let Entry::Event { event, data, .. } = entry else { return None };
        Some((self.answered_by(event, data)?, data.clone()))
    }

    /// Returns an id for a new question: the wanted one, or a longer one if an open question has it already.
    pub(crate) fn question_id(&self, activity: ActivityId, number: u32, wanted: &str) -> String {
        match self.open_questions().any(|asked| asked.id == wanted) {
            true => format!("{activity}.{number}.{wanted}"),
            false => wanted.to_owned(),
        }
    }

    /// Returns true if an event has no purpose now: it can only answer questions, and none is open.
    pub(crate) fn is_idle_answer(&self, event: &Event) -> bool {
        is_answer_only(self.loaded.chart(), event) && self.open_questions().all(|asked| asked.event != event.name)
    }

    /// Refuses an event that should answer a question but names none that is open.
    pub(crate) fn check_answer(&self, event: &Event, data: &Value) -> Result<(), Refused> {
        let open: Vec<&str> =
            self.open_questions().filter(|asked| asked.event == event.name).map(|asked| asked.id.as_str()).collect();
        let id = data.get(ID).and_then(Value::as_str);
        if (open.is_empty() && !is_answer_only(self.loaded.chart(), event)) || id.is_some_and(|id| open.contains(&id)) {
            return Ok(());
        }
        let (name, id) = (&event.name, id.unwrap_or_default());
        Err(Refused::new(match open.is_empty() {
            true => format!("`{name}` answers a question of a running activity, and no such question is open"),
            false => format!("no open question has the id `{id}`; `{name}` can answer {}", open.join(", ")),
        }))
    }
}

/// Returns true if an event can do nothing but answer questions: its data has an id, and no transition that takes it
/// has a target, a limit or an action.
fn is_answer_only(chart: &Chart, event: &Event) -> bool {
    let required = event.data.get("required").and_then(|required| required.as_array());
    if !required.is_some_and(|names| names.iter().any(|name| name == ID)) {
        return false;
    }
    let takes = |transition: &&interlock_chart::model::Transition| {
        transition.events.iter().any(|descriptor| descriptor.matches(&event.name))
    };
    let mut takers = chart.transitions.iter().filter(takes).peekable();
    takers.peek().is_some()
        && takers
            .all(|it| it.targets.is_empty() && it.limits.is_empty() && it.resets.is_empty() && it.actions.is_empty())
}
