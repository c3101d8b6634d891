//! What becomes of attempts that a crash cut off, by what they may have done.
//!
//! | effect | what becomes of it |
//! |---|---|
//! | `read` | tried again, three times at most, with a growing pause; where it only waits, as often as need be |
//! | `write` | its changes are taken back, or a person is asked (`recovery.rs`), and the machine is told `INTERRUPTED` |
//! | `external` | the machine is told `UNKNOWN_OUTCOME`: nobody repeats it by himself |

use interlock_activity::{Effect, Registry, code};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Entry};

use crate::Live;

/// How long to wait before a cut-off `read` is tried again, by how often it was tried.
const PAUSES_MS: [u64; 3] = [200, 500, 1_000];

/// What is to be done about an activity when a run is taken up again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Care {
    /// It was never tried, or may be tried again.
    Try { id: ActivityId, after_ms: u64 },
    /// Its writes are taken back, then it has failed.
    Restore { id: ActivityId, snapshot: String },
    /// It has failed.
    Fail { id: ActivityId, code: &'static str, message: String },
}

/// What is to be done about everything that was under way when a run was left.
pub(crate) fn care(live: &Live, registry: &Registry) -> Vec<Care> {
    let open =
        live.activities.iter().filter(|(id, begun)| !begun.is_reported && live.activity_of(**id, registry).is_some());
    open.map(|(id, begun)| care_of(live, registry, *id, begun.number, begun.snapshot.clone())).collect()
}

fn care_of(live: &Live, registry: &Registry, id: ActivityId, number: u32, snapshot: Option<String>) -> Care {
    if number == 0 {
        return Care::Try { id, after_ms: 0 };
    }
    match (live.effect(id, registry), snapshot) {
        (Effect::Read, _) if live.activity_of(id, registry).is_some_and(|activity| activity.waits()) => {
            Care::Try { id, after_ms: 0 }
        }
        (Effect::Read, _) => match PAUSES_MS.get(number as usize - 1) {
            Some(&after_ms) => Care::Try { id, after_ms },
            None => {
                let message = format!("it was cut off {number} times");
                Care::Fail { id, code: code::INTERRUPTED, message }
            }
        },
        (Effect::Write, Some(snapshot)) => Care::Restore { id, snapshot },
        (Effect::Write, None) => {
            let message = "it was cut off, and there is no snapshot to go back to".to_owned();
            Care::Fail { id, code: code::INTERRUPTED, message }
        }
        (Effect::External, _) => {
            let message = "it was cut off, and what it has done outside is not known".to_owned();
            Care::Fail { id, code: code::UNKNOWN_OUTCOME, message }
        }
    }
}

/// The record of an attempt that was cut off.
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
