//! The description of a tool, as a model and a policy see it.

use serde::Serialize;
use serde_json::Value as Json;

/// The effect of a tool on the world, which decides how a crash during a call is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing.
    Read,
    /// It changes files of the workspace, which a snapshot restores.
    Write,
    /// It changes something that no snapshot restores.
    External,
}

impl Effect {
    /// The name in events: `read`, `write` or `external`.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::External => "external",
        }
    }
}

/// The description of a tool.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// The name that a call uses.
    pub name: &'static str,
    /// The description for a model: purpose, limits, and when to use another tool.
    pub description: &'static str,
    /// The JSON Schema of its arguments; other arguments are refused.
    pub args_schema: Json,
    /// The fields of its result.
    pub result: &'static str,
    /// The permission that it needs, such as `fs.read`.
    pub permission: &'static str,
    /// Its effect on the world.
    pub effect: Effect,
    /// True if a failed call may be made again without asking.
    pub idempotent: bool,
}
