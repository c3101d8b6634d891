//! A person who answers for an activity.

use interlock_chart::Value;
use interlock_journal::EvidenceStore;

use crate::{Attempt, HandledSignal, Invocation};

/// The invocation that a person answers for.
#[derive(Clone, Copy, Debug)]
pub struct StandIn<'a> {
    /// The machine's declaration of the invocation.
    pub invocation: &'a Invocation,
    /// The data that the machine gives under `with`.
    pub with: &'a Value,
    /// The store with the large outputs.
    pub evidence: &'a EvidenceStore,
}

/// The question to the person.
#[derive(Clone, Debug, PartialEq)]
pub struct StandInQuestion {
    /// The text of the question.
    pub question: String,
    /// The data that each signal must carry, as exactly as the activity knows.
    pub signals: Vec<HandledSignal>,
}

impl<'a> StandIn<'a> {
    /// The invocation of an attempt, for a person to answer.
    pub fn of(attempt: &'a Attempt) -> Self {
        StandIn { invocation: &attempt.invocation, with: &attempt.with, evidence: &attempt.evidence }
    }
}
