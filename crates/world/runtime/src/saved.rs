//! The stored form of a run's state, kept beside its records, so that a process can continue the run without reading
//! all of them.

use std::collections::BTreeMap;

use interlock_chart::Value;
use interlock_core::{ActivityId, Machine, Snapshot, State};
use interlock_journal::Asked;
use serde::{Deserialize, Serialize};

use crate::{
    grants::Grants,
    live::{Live, StartedActivity, StoppingAttempt},
};

#[derive(Serialize, Deserialize)]
struct SavedState {
    state: Snapshot,
    activities: Vec<SavedActivity>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    stopping: BTreeMap<ActivityId, StoppingAttempt>,
    #[serde(default, skip_serializing_if = "Grants::is_empty")]
    grants: Grants,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
}

/// The parts of a running activity that the engine's state does not hold.
#[derive(Serialize, Deserialize)]
struct SavedActivity {
    id: ActivityId,
    with: Value,
    number: u32,
    begun_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reported: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Asked>,
}

/// Returns the stored form of a run.
pub(crate) fn save(live: &Live) -> String {
    save_with(live, live.output.clone(), live.stopping.clone())
}

/// Returns true if `json` is the stored form of this run. Older versions stored neither its output nor the attempts that
/// are stopping.
pub(crate) fn is_of(live: &Live, json: &str) -> bool {
    let older = |output| save_with(live, output, BTreeMap::new()) == json;
    save(live) == json || older(live.output.clone()) || older(None)
}

fn save_with(live: &Live, output: Option<Value>, stopping: BTreeMap<ActivityId, StoppingAttempt>) -> String {
    let activities = live.activities.iter().map(|(id, begun)| SavedActivity {
        id: *id,
        with: begun.with.clone(),
        number: begun.number,
        begun_ms: begun.begun_ms,
        snapshot: begun.snapshot.clone(),
        reported: begun.is_reported,
        left: begun.left.clone(),
        questions: begun.questions.clone(),
    });
    let state = live.state.snapshot(&live.loaded.machine);
    let saved = SavedState { state, activities: activities.collect(), stopping, grants: live.grants.clone(), output };
    // Every key is a string, so serialization cannot fail.
    serde_json::to_string(&saved).unwrap_or_default()
}

/// The parts of a run that are restored from the stored form.
pub(crate) struct Stored {
    pub(crate) state: State,
    pub(crate) activities: Vec<(ActivityId, StartedActivity)>,
    pub(crate) stopping: BTreeMap<ActivityId, StoppingAttempt>,
    pub(crate) grants: Grants,
    pub(crate) output: Option<Value>,
}

/// Restores the parts of a run from the stored form.
pub(crate) fn load(json: &str, machine: &Machine) -> Result<Stored, String> {
    let saved: SavedState = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let state = saved.state.restore(machine).map_err(|error| error.to_string())?;
    let begun = |saved: SavedActivity| {
        let invoke = state.running.iter().find(|running| running.id == saved.id)?.invoke;
        let begun = StartedActivity {
            invoke,
            with: saved.with,
            number: saved.number,
            begun_ms: saved.begun_ms,
            snapshot: saved.snapshot,
            is_reported: saved.reported,
            left: saved.left,
            questions: saved.questions,
        };
        Some((saved.id, begun))
    };
    let activities = saved.activities.into_iter().filter_map(begun).collect();
    Ok(Stored { state, activities, stopping: saved.stopping, grants: saved.grants, output: saved.output })
}
