//! An outcome in a form that tests compare.

use interlock_activity::Outcome;
use interlock_journal::AttemptResult;
use serde_json::Value as Json;

/// The outcome of an attempt.
#[derive(Debug)]
pub struct Ended {
    /// The outcome itself.
    pub outcome: Outcome,
    /// The signal, or `error`.
    pub name: String,
    /// The data of the signal or of the error.
    pub data: Json,
}

impl Ended {
    /// Takes an outcome apart.
    pub fn new(outcome: Outcome) -> Self {
        let (name, data) = match &outcome.result {
            AttemptResult::Signal { name, data } => (name.clone(), data),
            AttemptResult::Error { data } => ("error".to_owned(), data),
        };
        let data = Json::from(data);
        Ended { outcome, name, data }
    }

    /// Returns the code and the message of an error.
    #[track_caller]
    pub fn error(&self) -> (String, String) {
        assert_eq!(self.name, "error", "{:?}", self.data);
        let field = |name: &str| self.data[name].as_str().unwrap().to_owned();
        (field("code"), field("message"))
    }
}
