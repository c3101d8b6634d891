//! A person who answers in place of an activity.

use interlock_chart::Value;
use interlock_journal::EvidenceStore;

use crate::{Attempt, Invocation, Taken};

/// What a person stands in for.
#[derive(Clone, Copy, Debug)]
pub struct StandIn<'a> {
    /// What the machine says where it invokes it.
    pub invocation: &'a Invocation,
    /// What the machine gives it.
    pub with: &'a Value,
    /// Where big things are.
    pub evidence: &'a EvidenceStore,
}

/// What they are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// In words.
    pub question: String,
    /// What each signal has to carry, as exactly as the activity knows.
    pub signals: Vec<Taken>,
}

impl<'a> StandIn<'a> {
    /// What an attempt would be asked.
    pub fn of(attempt: &'a Attempt) -> Self {
        StandIn { invocation: &attempt.invocation, with: &attempt.with, evidence: &attempt.evidence }
    }
}
