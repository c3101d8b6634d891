//! The end of a run: its outcome and the reason.

use interlock_journal::{Entry, Head, Phase};
use interlock_runtime::{Move, Result};
use serde::Serialize;
use serde_json::Value as Json;

use crate::{Follower, Source, Step};

/// The event of an expression that could not be evaluated.
const FAULT: &str = "error.execution";

/// The longest run of which all records are read for its faults.
const FAULTS_RECORDS_MAX: u64 = 2_000;

/// The most faults that are returned.
const FAULTS_MAX: usize = 5;

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

    /// Reads the expressions of a run that could not be evaluated, also those that its machine handled by name. Of a long run,
    /// only the records since its last stored state are read.
    pub fn faults(source: &impl Source, head: &Head) -> Result<Vec<String>> {
        let mut follower = match head.seq > FAULTS_RECORDS_MAX {
            true => Follower::before(source, head.clone(), head.seq + 1)?,
            false => Follower::from_start(source, head.clone())?,
        };
        let mut faults: Vec<String> = Vec::new();
        let steps = follower.catch_up()?;
        for fault in steps.iter().flat_map(|step| &step.moves).flat_map(|step| &step.faults) {
            if !faults.contains(fault) && faults.len() < FAULTS_MAX {
                faults.push(fault.clone());
            }
        }
        Ok(faults)
    }
}

/// Returns the reason of the last transition that was taken, or of the one before it in the same record. An undo is no
/// transition: a run that was undone has ended for the reason for which it ended.
pub fn reason(steps: &[Step]) -> Option<String> {
    let steps = steps.iter().rev().filter(|step| !matches!(step.entry, Entry::Undone(_)));
    let is_end = |step: &&Step| step.moves.iter().any(|step| step.taken) || ended_in_fault(&step.moves).is_some();
    reason_of(&steps.into_iter().find(is_end)?.moves)
}

/// Returns the last reason among the transitions of a record. A transition that handles a fault or an error and gives no
/// reason has that of the fault, of the refusal, or of the error.
pub fn reason_of(moves: &[Move]) -> Option<String> {
    let given = |step: &Move| step.reason.clone().filter(|reason| !reason.trim().is_empty());
    let handled = |step: &Move| match step.event.as_deref() {
        Some(FAULT) => faults_of(moves),
        Some("error") => error_of(&step.data),
        _ => None,
    };
    ended_in_fault(moves)
        .or_else(|| moves.iter().rev().filter(|step| step.taken).find_map(|step| given(step).or_else(|| handled(step))))
        .or_else(|| faults_of(moves))
}

/// Returns the fault that no transition handled.
fn ended_in_fault(moves: &[Move]) -> Option<String> {
    moves.last().filter(|last| !last.taken && last.event.as_deref() == Some(FAULT))?.reason.clone()
}

fn faults_of(moves: &[Move]) -> Option<String> {
    let faults: Vec<&str> = moves.iter().flat_map(|step| &step.faults).map(String::as_str).collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// Returns the reason of a refusal, or else the message of an error, or else its code.
fn error_of(data: &Json) -> Option<String> {
    let text = |name: &str| data[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    text("reason").or_else(|| text("message")).or_else(|| text("code"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(event: &str, reason: Option<&str>, taken: bool) -> Move {
        Move { event: Some(event.into()), reason: reason.map(str::to_owned), taken, ..Move::default() }
    }

    #[test]
    fn a_handler_without_a_reason_has_that_of_what_it_handles() {
        let faulted = Move { faults: vec!["no such field: x".into()], ..step("passed", None, false) };
        let handled = |reason| [faulted.clone(), step(FAULT, reason, true)];
        assert_eq!(reason_of(&handled(None)).as_deref(), Some("no such field: x"));
        assert_eq!(reason_of(&handled(Some("gave up"))).as_deref(), Some("gave up"));
        let earlier = [step("failed", Some("2 tests failed"), true), faulted.clone(), step(FAULT, None, true)];
        assert_eq!(reason_of(&earlier).as_deref(), Some("no such field: x"), "it comes after the other reason");
        let unhandled = [step("start", Some("begun"), true), faulted.clone(), step(FAULT, Some("x is missing"), false)];
        assert_eq!(reason_of(&unhandled).as_deref(), Some("x is missing"));
        let error = |data: Json| reason_of(&[Move { data, ..step("error", None, true) }]);
        assert_eq!(error(json!({ "code": "FAILED", "message": "no disk" })).as_deref(), Some("no disk"));
        let refusal = json!({ "code": "DENIED", "message": "no rule; Hint: grant it", "reason": "no rule" });
        assert_eq!(error(refusal).as_deref(), Some("no rule"));
        assert_eq!(error(json!({ "code": "FAILED" })).as_deref(), Some("FAILED"));
    }
}
