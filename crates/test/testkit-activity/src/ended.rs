//! An outcome in a form that tests compare.

use interlock_activity::{Outcome, OutcomeKind, code, error_data};
use interlock_chart::Value;
use serde_json::Value as Json;

/// The outcome of an attempt.
#[derive(Debug)]
pub struct EndedAttempt {
    /// The outcome as the attempt returned it.
    pub outcome: Outcome,
    /// The signal, `error`, `needs_person` or `not_stored`.
    pub name: String,
    /// The data of the signal or of the error.
    pub data: Json,
}

impl EndedAttempt {
    /// Splits an outcome into its name and its data.
    pub fn new(outcome: Outcome) -> Self {
        let error = |data: Value| ("error".to_owned(), data);
        let (name, data) = match outcome.kind.clone() {
            OutcomeKind::Signal { name, data } => (name, data),
            OutcomeKind::Error { data } => error(data),
            OutcomeKind::Cancelled { reason } => error(error_data(code::CANCELLED, reason)),
            OutcomeKind::NeedsPerson { reason } => ("needs_person".to_owned(), Value::from(reason)),
            OutcomeKind::NotStored { reason } => ("not_stored".to_owned(), Value::from(reason)),
        };
        let data = Json::from(&data);
        EndedAttempt { outcome, name, data }
    }

    /// Returns the code and the message of an error.
    #[track_caller]
    pub fn error(&self) -> (String, String) {
        assert_eq!(self.name, "error", "{:?}", self.data);
        let field = |name: &str| self.data[name].as_str().unwrap().to_owned();
        (field("code"), field("message"))
    }
}
