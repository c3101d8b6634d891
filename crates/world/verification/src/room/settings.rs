//! What a project says about its verification: `.interlock/verification.toml` of the tree that a run began with, so that
//! no turn changes its own rules.

use std::{path::Path, time::Duration};

use serde::Deserialize;

/// The path of the file in a project.
pub(crate) const FILE: &str = ".interlock/verification.toml";

/// The least time for breaking functions one by one, unless the project says otherwise.
const BUDGET_MIN: Duration = Duration::from_secs(30);

/// The settings of a project.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Further ignored directories that the check needs, such as `third_party/sdk`.
    pub(crate) dependencies: Vec<String>,
    /// Whether the check runs on the tree that the run began with, for comparison.
    pub(crate) base: bool,
    /// Whether the tests and definitions of that tree run against the new sources.
    pub(crate) old_checks: bool,
    /// True if the changed sources are broken on purpose.
    pub(crate) able_to_fail: bool,
    /// The time for breaking functions one by one, in seconds; as long as the check itself took, but at least 30
    /// seconds, if it is missing.
    pub(crate) budget_s: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { dependencies: Vec::new(), base: true, old_checks: true, able_to_fail: true, budget_s: None }
    }
}

impl Settings {
    /// Reads the settings of a tree. The error names the file and the problem.
    pub(crate) fn read(tree: &Path) -> Result<Self, String> {
        let Some(text) = super::files::content(tree, FILE) else { return Ok(Settings::default()) };
        toml::from_str(&String::from_utf8_lossy(&text)).map_err(|error| format!("{FILE}: {}", error.message()))
    }

    /// Returns the parts that the project switched off, in words.
    pub(crate) fn switched_off(&self) -> Vec<&'static str> {
        let parts = [
            (self.base, "the comparison with the cases before"),
            (self.old_checks, "the old tests on the new sources"),
            (self.able_to_fail, "the proof that the check can fail"),
        ];
        parts.into_iter().filter(|(is_on, _)| !is_on).map(|(_, part)| part).collect()
    }

    /// Returns the time for breaking files one by one, after a check that took this long.
    pub(crate) fn budget(&self, took: Duration) -> Duration {
        self.budget_s.map_or(took.max(BUDGET_MIN), Duration::from_secs)
    }
}
