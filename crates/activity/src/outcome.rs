//! How an attempt ends.

use interlock_chart::Value;
use interlock_journal::{AttemptResult, Evidence};

/// The codes of errors that come from activities in general; an activity may have more of its own.
pub mod code {
    /// The machine gave it something it cannot work with.
    pub const BAD_INPUT: &str = "BAD_INPUT";
    /// It was told to stop.
    pub const CANCELLED: &str = "CANCELLED";
    /// A crash cut it off, and its writes were taken back (or it had none).
    pub const INTERRUPTED: &str = "INTERRUPTED";
    /// A crash cut it off, and nobody knows how far it had come.
    pub const UNKNOWN_OUTCOME: &str = "UNKNOWN_OUTCOME";
    /// It took longer than it was given.
    pub const TIMEOUT: &str = "TIMEOUT";
    /// A program could not be started, or did not keep to its protocol.
    pub const FAILED: &str = "FAILED";
    /// It came back from a try with a result that does not fit the machine's schema.
    pub const BAD_OUTCOME: &str = "BAD_OUTCOME";
    /// What it left behind could not be kept: the store has failed. The machine never hears of it; the run stops at its last record.
    pub const NOT_KEPT: &str = "NOT_KEPT";
    /// It is for a person to say how it ends. The machine never hears of it: from then on the activity waits as one that is not implemented.
    pub const LEFT_TO_PERSON: &str = "LEFT_TO_PERSON";
    /// The machine of a run that it should start is refused by `check`.
    pub const UNPROVED: &str = "UNPROVED";
    /// What it needs could not be reached.
    pub const UNREACHABLE: &str = "UNREACHABLE";
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// With which signal or error.
    pub result: AttemptResult,
    /// What it left behind.
    pub evidence: Vec<Evidence>,
}

impl Outcome {
    /// With a signal.
    pub fn signal(name: impl Into<String>, data: Value) -> Self {
        Outcome { result: AttemptResult::Signal { name: name.into(), data }, evidence: Vec::new() }
    }

    /// With an error.
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        let data = Value::map([("code", Value::from(code)), ("message", Value::from(message.into()))]);
        Outcome { result: AttemptResult::Error { data }, evidence: Vec::new() }
    }

    /// Why the store could not keep what it left behind, if that is how it ended.
    pub fn not_kept(&self) -> Option<String> {
        self.message_of(code::NOT_KEPT)
    }

    /// Why a person has to say how it ends, if that is how it ended.
    pub fn left_to_person(&self) -> Option<String> {
        self.message_of(code::LEFT_TO_PERSON)
    }

    /// Whether it ended because it was told to.
    pub fn is_cancelled(&self) -> bool {
        self.message_of(code::CANCELLED).is_some()
    }

    fn message_of(&self, code: &str) -> Option<String> {
        let AttemptResult::Error { data } = &self.result else { return None };
        let is_it = data.get("code").and_then(Value::as_str) == Some(code);
        is_it.then(|| data.get("message").map(ToString::to_string).unwrap_or_default())
    }

    /// With this left behind as well.
    #[must_use]
    pub fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}
