//! The end of a run: its outcome and the reason.

use interlock_journal::{Entry, Head, Phase};
use interlock_runtime::{Move, Result};
use serde::Serialize;

use crate::{Follower, Source, Step};

/// The outcome of a run that has ended, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// `success`, `incomplete`, `failure` or `aborted`.
    pub outcome: &'static str,
    /// The reason of the transition that ended it.
    pub reason: Option<String>,
}

impl End {
    /// Returns the end of a run in this phase; `None` if it has not ended.
    pub fn of(phase: Phase, reason: Option<String>) -> Option<Self> {
        let outcome = match phase {
            Phase::Active | Phase::Waiting | Phase::Paused => return None,
            Phase::Succeeded => "success",
            Phase::Incomplete => "incomplete",
            Phase::Failed => "failure",
            Phase::Aborted => "aborted",
        };
        Some(End { outcome, reason })
    }

    /// Reads the end of a run. Only the records since its last stored state are read, if one of them ended it.
    pub fn read(source: &impl Source, head: &Head) -> Result<Option<Self>> {
        if !head.phase.is_over() {
            return Ok(None);
        }
        let mut follower = Follower::before(source, head.clone(), head.seq + 1)?;
        let mut reason = reason(&follower.catch_up()?);
        if reason.is_none() {
            reason = self::reason(&Follower::from_start(source, head.clone())?.catch_up()?);
        }
        Ok(End::of(head.phase, reason))
    }
}

/// Returns the reason of the last transition that was taken, or of the one before it in the same record. An undo is no
/// transition: a run that was undone has ended for the reason for which it ended.
pub fn reason(steps: &[Step]) -> Option<String> {
    let steps = steps.iter().rev().filter(|step| !matches!(step.entry, Entry::Undone(_)));
    let last = steps.into_iter().find(|step| step.moves.iter().any(|step| step.taken))?;
    reason_of(&last.moves)
}

/// Returns the last reason among the transitions of a record; without one, the faults of the record.
pub fn reason_of(moves: &[Move]) -> Option<String> {
    let reason = moves.iter().rev().filter(|step| step.taken).find_map(|step| step.reason.clone());
    let faults = || moves.iter().flat_map(|step| step.faults.clone()).collect::<Vec<_>>().join("; ");
    reason.filter(|reason| !reason.trim().is_empty()).or_else(|| Some(faults()).filter(|text| !text.is_empty()))
}
