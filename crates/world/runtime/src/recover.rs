//! Handling of attempts that a crash interrupted, by their effect class.
//!
//! | effect | handling |
//! |---|---|
//! | `read` | retried with a growing pause, at most three times; without limit if it only waits |
//! | `write` | its changes are undone, or a person is asked (`recovery.rs`), and the machine receives `INTERRUPTED` |
//! | `external` | the machine receives `UNKNOWN_OUTCOME`: the attempt is never repeated automatically |

use interlock_activity::{EffectClass, Registry, code};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Entry};

use crate::Live;

/// The pauses in milliseconds before an interrupted `read` is retried, by the number of attempts so far.
const PAUSES_MS: [u64; 3] = [200, 500, 1_000];

/// The handling of one activity when a run is adopted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RecoveryAction {
    /// Attempt it: it was never attempted, or may be retried.
    Try { id: ActivityId, after_ms: u64 },
    /// Undo its writes, then report it as failed.
    Restore { id: ActivityId, snapshot: String },
    /// Report it as failed with this code.
    Fail { id: ActivityId, code: &'static str, message: String },
}

/// Returns the handling of every activity that was under way when the run was released.
pub(crate) fn actions(live: &Live, registry: &Registry) -> Vec<RecoveryAction> {
    let open =
        live.activities.iter().filter(|(id, begun)| !begun.is_reported && live.activity_of(**id, registry).is_some());
    open.map(|(id, begun)| action_for(live, registry, *id, begun.number, begun.snapshot.clone())).collect()
}

fn action_for(
    live: &Live,
    registry: &Registry,
    id: ActivityId,
    number: u32,
    snapshot: Option<String>,
) -> RecoveryAction {
    if number == 0 {
        return RecoveryAction::Try { id, after_ms: 0 };
    }
    match (live.effect(id, registry), snapshot) {
        (EffectClass::Read, _) if live.activity_of(id, registry).is_some_and(|activity| activity.waits()) => {
            RecoveryAction::Try { id, after_ms: 0 }
        }
        (EffectClass::Read, _) => match PAUSES_MS.get(number as usize - 1) {
            Some(&after_ms) => RecoveryAction::Try { id, after_ms },
            None => {
                let message = format!("it was interrupted {number} times");
                RecoveryAction::Fail { id, code: code::INTERRUPTED, message }
            }
        },
        (EffectClass::Write, Some(snapshot)) => RecoveryAction::Restore { id, snapshot },
        (EffectClass::Write, None) => {
            let message = "it was interrupted, and there is no snapshot to restore".to_owned();
            RecoveryAction::Fail { id, code: code::INTERRUPTED, message }
        }
        (EffectClass::External, _) => {
            let message = "it was interrupted, and its external effect is not known".to_owned();
            RecoveryAction::Fail { id, code: code::UNKNOWN_OUTCOME, message }
        }
    }
}

/// Returns the entry for an attempt that was interrupted.
pub(crate) fn cut_off(live: &Live, id: ActivityId, code: &str, message: &str) -> Entry {
    let number = live.activities.get(&id).map_or(0, |begun| begun.number);
    let data = Value::map([("code", Value::from(code)), ("message", Value::from(message))]);
    Entry::Outcome {
        activity: id,
        number,
        result: AttemptResult::Error { data },
        evidence: Vec::new(),
        by: None,
        id: None,
    }
}
