//! The outcome of an attempt.

use interlock_chart::Value;
use interlock_journal::Evidence;

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
    /// `check` refuses the machine of a run that it should start.
    pub const UNPROVED: &str = "UNPROVED";
    /// Policy does not allow what it is about to do.
    pub const POLICY_DENIED: &str = "POLICY_DENIED";
    /// A person must grant a permission first.
    pub const CONFIRMATION_NEEDED: &str = "CONFIRMATION_NEEDED";
    /// A service that it needs could not be reached.
    pub const UNREACHABLE: &str = "UNREACHABLE";
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The way in which the attempt ended.
    pub kind: OutcomeKind,
    /// The evidence that it stored.
    pub evidence: Vec<Evidence>,
}

/// The ways in which an attempt ends. The runtime acts on the variant, never on an error code, so that no program can
/// steer the runtime by answering with a particular code.
#[derive(Clone, Debug, PartialEq)]
pub enum OutcomeKind {
    /// It raised one of the signals that its state declares.
    Signal {
        /// The signal's name.
        name: String,
        /// The signal's data.
        data: Value,
    },
    /// It failed; the machine handles the `error` event.
    Error {
        /// The error's data: `code`, `message` and further fields of the activity.
        data: Value,
    },
    /// A person must supply the result. The machine does not see this: the activity waits like one that is not installed.
    NeedsPerson {
        /// The reason, shown to that person.
        reason: String,
    },
    /// The store failed to keep its evidence. The machine does not see this: the run stops at its last record.
    NotStored {
        /// The store's error.
        reason: String,
    },
    /// The runtime cancelled it.
    Cancelled {
        /// The cause, for the record of a late outcome.
        reason: String,
    },
}

impl Outcome {
    /// Ends with a signal.
    pub fn signal(name: impl Into<String>, data: Value) -> Self {
        OutcomeKind::Signal { name: name.into(), data }.into()
    }

    /// Ends with an error that has no fields besides its code and message.
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        OutcomeKind::Error { data: error_data(code, message) }.into()
    }

    /// Leaves the result to a person.
    pub fn needs_person(reason: impl Into<String>) -> Self {
        OutcomeKind::NeedsPerson { reason: reason.into() }.into()
    }

    /// Reports that the store failed.
    pub fn not_stored(reason: impl Into<String>) -> Self {
        OutcomeKind::NotStored { reason: reason.into() }.into()
    }

    /// Ends because the runtime cancelled the attempt.
    pub fn cancelled(reason: impl Into<String>) -> Self {
        OutcomeKind::Cancelled { reason: reason.into() }.into()
    }

    /// The message of an error, the reason of an outcome that the machine does not see, or the signal's name.
    pub fn message(&self) -> String {
        match &self.kind {
            OutcomeKind::Error { data } => data.get("message").map(ToString::to_string).unwrap_or_default(),
            OutcomeKind::Signal { name, .. } => name.clone(),
            OutcomeKind::NeedsPerson { reason }
            | OutcomeKind::NotStored { reason }
            | OutcomeKind::Cancelled { reason } => reason.clone(),
        }
    }

    /// Adds evidence to the outcome.
    #[must_use]
    pub fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}

impl From<OutcomeKind> for Outcome {
    fn from(kind: OutcomeKind) -> Self {
        Outcome { kind, evidence: Vec::new() }
    }
}

/// The data of an error that has no further fields.
pub fn error_data(code: &str, message: impl Into<String>) -> Value {
    Value::map([("code", Value::from(code)), ("message", Value::from(message.into()))])
}
