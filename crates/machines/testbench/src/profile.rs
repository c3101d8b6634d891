//! The test profile of a task: the environment, the tests to run in it, their repetitions and their time limits.

use std::collections::BTreeMap;

use interlock_test_results::Limit;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The test profile of a task. The machine's input schema has checked it and set the defaults.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Profile {
    /// `qemu`, `target_board`, `windows_script`, `bmc`, `local`, or `program`.
    pub env_type: String,
    /// The cases that must be reported. Each one is started separately if `each_alone` is set.
    #[serde(default)]
    pub cases: Vec<String>,
    /// True if every case has a separate start.
    #[serde(default)]
    pub each_alone: bool,
    /// The suites to start, in addition to the cases or instead of them. Without any, there is one start without
    /// arguments.
    #[serde(default)]
    pub suites: Vec<Suite>,
    /// Selects the suites with one of these tags; all suites if empty.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The cases that must pass; all cases if empty.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The time limit of one start.
    #[serde(default = "timeout")]
    pub timeout_sec: u64,
    /// The number of times that everything is run; results that differ are flaky.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// True if a failed start is repeated at once, so that flaky cases are recognized. This is the default.
    #[serde(default = "yes")]
    pub confirm: bool,
    /// The number of concurrent starts.
    #[serde(default = "once")]
    pub concurrency: u32,
    /// True if executed lines are recorded, as the figure `covered_lines`.
    #[serde(default)]
    pub coverage: bool,
    /// The format of the results: one of the names of [`crate::results::Format`].
    #[serde(default)]
    pub format: String,
    /// The point at which a firmware that never ends is stopped and judged.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// The settings of this kind of environment, and the patterns of the results.
    #[serde(default)]
    pub config: Map<String, Value>,
}

/// The settings in `config` that describe results. They mean the same in every environment, so that none reads them.
const OF_RESULTS: [&str; 1] = ["patterns"];

impl Profile {
    /// Returns the profile as an environment reads it: without the settings that describe results.
    pub(crate) fn of_environment(&self) -> Profile {
        let mut own = self.clone();
        own.config.retain(|name, _| !OF_RESULTS.contains(&name.as_str()));
        own
    }
}

/// One start, with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// The name of the suite.
    pub id: String,
    /// The arguments of the firmware or of the command.
    #[serde(default)]
    pub args: Vec<String>,
    /// The command to run, if the environment runs commands.
    #[serde(default)]
    pub command: String,
    /// The environment variables, if the environment supports them.
    #[serde(default)]
    pub environment_vars: BTreeMap<String, String>,
    /// The tags by which suites are selected.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The time limit, if it differs from the profile's.
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
