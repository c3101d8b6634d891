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

/// Decides on the actions of agents.
pub trait Referee: Send + Sync + 'static {
    /// Decides if a tool call may be made. May block.
    fn rule(&self, attempt: &Attempt, call: &ToolCall) -> Result<Ruling, Outcome>;

    /// Returns the ways in which a patch weakens tests, one sentence each. May block.
    fn weakened(&self, attempt: &Attempt, patch: &[u8]) -> Vec<String>;
}
