//! The outcome of an attempt.

use interlock_chart::Value;
use interlock_journal::{AttemptResult, Evidence};

/// The error codes that all activities share; an activity may define further codes.
pub mod code {
    /// The machine gave it data that it cannot work with.
    pub const BAD_INPUT: &str = "BAD_INPUT";
    /// The runtime cancelled the attempt.
    pub const CANCELLED: &str = "CANCELLED";
    /// A crash interrupted it, and its writes were undone (or it had none).
    pub const INTERRUPTED: &str = "INTERRUPTED";
    /// A crash interrupted it, and its progress is unknown.
    pub const UNKNOWN_OUTCOME: &str = "UNKNOWN_OUTCOME";
    /// It took longer than its time limit.
    pub const TIMEOUT: &str = "TIMEOUT";
    /// A program could not be started, or did not keep to its protocol.
    pub const FAILED: &str = "FAILED";
    /// Its result does not fit the machine's schema.
    pub const BAD_OUTCOME: &str = "BAD_OUTCOME";
    /// Its evidence could not be stored because the store has failed. The machine never sees this code; the run stops
    /// at its last record.
    pub const NOT_KEPT: &str = "NOT_KEPT";
    /// A person must supply the result. The machine never sees this code: from then on the activity waits like one that
    /// is not implemented.
    pub const LEFT_TO_PERSON: &str = "LEFT_TO_PERSON";
    /// `check` refuses the machine of a run that it should start.
    pub const UNPROVED: &str = "UNPROVED";
    /// A service that it needs could not be reached.
    pub const UNREACHABLE: &str = "UNREACHABLE";
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The signal or the error it ended with.
    pub result: AttemptResult,
    /// The evidence that it stored.
    pub evidence: Vec<Evidence>,
}

impl Outcome {
    /// Ends with a signal.
    pub fn signal(name: impl Into<String>, data: Value) -> Self {
        Outcome { result: AttemptResult::Signal { name: name.into(), data }, evidence: Vec::new() }
    }

    /// Ends with an error.
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        let data = Value::map([("code", Value::from(code)), ("message", Value::from(message.into()))]);
        Outcome { result: AttemptResult::Error { data }, evidence: Vec::new() }
    }

    /// The message of the store's failure, if the attempt ended with `NOT_KEPT`.
    pub fn not_kept(&self) -> Option<String> {
        self.message_of(code::NOT_KEPT)
    }

    /// The reason why a person must supply the result, if the attempt ended with `LEFT_TO_PERSON`.
    pub fn left_to_person(&self) -> Option<String> {
        self.message_of(code::LEFT_TO_PERSON)
    }

    /// Returns true if it ended because it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.message_of(code::CANCELLED).is_some()
    }

    fn message_of(&self, code: &str) -> Option<String> {
        let AttemptResult::Error { data } = &self.result else { return None };
        let is_it = data.get("code").and_then(Value::as_str) == Some(code);
        is_it.then(|| data.get("message").map(ToString::to_string).unwrap_or_default())
    }

    /// Adds evidence to the outcome.
    #[must_use]
    pub fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}
