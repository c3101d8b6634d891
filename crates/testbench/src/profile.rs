//! The test profile of a task: which environment, what to run in it, how often, and for how long.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The test profile of a task. The machine's input schema has checked it and filled its gaps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Profile {
    /// `qemu`, `target_board`, `windows_script`, `bmc`, `local`, or `program`.
    pub env_type: String,
    /// The cases that are to be reported. Each is started on its own where `each_alone` says so.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Whether every case has a start of its own.
    #[serde(default)]
    pub each_alone: bool,
    /// What to start besides, or instead; one start with nothing special where there is none.
    #[serde(default)]
    pub suites: Vec<Suite>,
    /// Only suites with one of these tags; all where there are none.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The cases that must pass; all where there are none.
    #[serde(default)]
    pub targets: Vec<String>,
    /// How long one start may take.
    #[serde(default = "timeout")]
    pub timeout_sec: u64,
    /// How often everything is run; results that differ are flaky.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// Whether a start that did not go well is run again at once, so that what is flaky is known as that. So it is, unless the profile says no.
    #[serde(default = "yes")]
    pub confirm: bool,
    /// How many starts at a time.
    #[serde(default = "once")]
    pub concurrency: u32,
    /// Whether to find out which lines are executed: the figure `covered_lines`.
    #[serde(default)]
    pub coverage: bool,
    /// How results are printed: one of [`crate::results::Format`]'s names.
    #[serde(default)]
    pub format: String,
    /// What this kind of environment needs to know.
    #[serde(default)]
    pub config: Map<String, Value>,
}

/// One start, with what it is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// Its name.
    pub id: String,
    /// What it is told: arguments of the firmware, or of the command.
    #[serde(default)]
    pub args: Vec<String>,
    /// What it is run by, where an environment runs commands.
    #[serde(default)]
    pub command: String,
    /// Variables it sees, where it can see any.
    #[serde(default)]
    pub environment_vars: BTreeMap<String, String>,
    /// What it is about.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How long it may take, where that is not what the profile says.
    pub timeout_sec: Option<u64>,
}

fn timeout() -> u64 {
    300
}

fn yes() -> bool {
    true
}

fn once() -> u32 {
    1
}
