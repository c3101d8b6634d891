//! The seam to policy: decides on tool calls and inspects changes. The command line supplies the implementation, so that
//! this crate does not depend on the activities that ask policy.

use interlock_activity::{Attempt, Outcome};

use crate::driver::ToolCall;

/// The decision of policy on a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The call may be made.
    Allow,
    /// The call must not be made, with the reason.
    Deny(String),
    /// A person decides, with the reason for asking.
    Ask(String),
}

/// The decision of policy on a change to a protected path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writing {
    /// The path may be changed.
    Allowed,
    /// The path must not be changed, with the reason.
    Denied(String),
    /// A person can allow it.
    Asks {
        /// The permissions that it needs.
        scopes: Vec<String>,
        /// The reason for asking.
        reason: String,
    },
}

/// Decides on the actions of agents.
pub trait Referee: Send + Sync + 'static {
    /// Decides if a tool call may be made. May block.
    fn rule(&self, attempt: &Attempt, call: &ToolCall) -> Result<Ruling, Outcome>;

    /// Decides if a program may change a protected path, which is relative to the root of the workspace. May block.
    fn writing(&self, attempt: &Attempt, path: &str) -> Result<Writing, Outcome>;

    /// Returns the ways in which a patch weakens tests, one sentence each. May block.
    fn weakened(&self, attempt: &Attempt, patch: &[u8]) -> Vec<String>;
}
