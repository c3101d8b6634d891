//! Protected files that an agent changed and the sandbox put back: sentences for people and for the agent's next prompt,
//! and the permission that a person can give.

use std::path::Path;

use interlock_sandbox::{Breach, PROJECT_PROTECTED, workspace_of};

/// The protected paths that were put back after a turn.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    /// One sentence for each path.
    pub(crate) sentences: Vec<String>,
    /// The paths that a permission could open, relative to the root of the workspace.
    pub(crate) paths: Vec<String>,
}

/// The permission that is missing for the changes of a turn.
#[derive(Debug, Default)]
pub(crate) struct Refusal {
    /// The paths, relative to the root of the workspace.
    pub(crate) paths: Vec<String>,
    /// The permissions that they need.
    pub(crate) scopes: Vec<String>,
    /// The reasons of policy.
    pub(crate) reasons: Vec<String>,
}

impl Restored {
    /// Reads the breaches that the sandbox reports.
    pub(crate) fn of(breaches: &[Breach], folder: &Path) -> Self {
        let root = workspace_of(folder).unwrap_or_else(|_| folder.to_owned());
        let mut restored = Restored::default();
        for breach in breaches {
            let Some(path) = &breach.path else { continue };
            let path = path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned();
            restored.sentences.push(match breach.rule == PROJECT_PROTECTED {
                true => format!(
                    "{path} was put back: it decides what runs outside the sandbox, and changing it needs a permission"
                ),
                false => format!("{path} was put back: git's settings and hooks are not changed in a turn"),
            });
            if breach.rule == PROJECT_PROTECTED {
                restored.paths.push(path);
            }
        }
        restored
    }
}

impl Refusal {
    /// Returns the sentence that a person is asked with.
    pub(crate) fn reason(&self) -> String {
        format!(
            "the agent changed {}, which was put back because it decides what runs outside the sandbox; a permission lets the agent repeat the change ({})",
            self.paths.join(", "),
            self.reasons.join("; ")
        )
    }
}
