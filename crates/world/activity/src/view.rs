//! Views: files outside the store that show a run, such as `active_context.md`.
//!
//! A view is derived from the journal and can be written again at any time. Nothing reads it back.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::{Map, Value as Json};

/// Shows runs in a file. An activity provides it for the machines that invoke the activity.
pub trait RunView: Send + Sync {
    /// Brings the file up to date. Called after every record of a run, and when a process takes a run up. May block.
    /// Returns a message for watchers if there is something to report.
    fn update(&self, run: &RunState) -> Option<String>;
}

/// The state of a run after a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunState {
    /// The name of the run.
    pub run: Arc<str>,
    /// The name of the machine.
    pub machine: String,
    /// The directory that the run works in.
    pub folder: PathBuf,
    /// The active states, outer states before inner ones.
    pub states: Vec<String>,
    /// The data of the run.
    pub context: Map<String, Json>,
    /// The counters of limits.
    pub counters: BTreeMap<String, u32>,
    /// True if the run has ended.
    pub is_over: bool,
    /// The time of the last record, in milliseconds since 1970.
    pub at_ms: i64,
}
