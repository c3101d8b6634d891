//! The error codes of `agent.prompt`.

/// The agent's model refuses, or a permission was denied and nothing was done.
pub const AGENT_REFUSED: &str = "AGENT_REFUSED";

/// The agent's program ended before its turn did.
pub const AGENT_DIED: &str = "AGENT_DIED";

/// The agent failed for a reason of its own.
pub const AGENT_FAILED: &str = "AGENT_FAILED";

/// The agent's model could not be reached, or failed.
pub const MODEL_UNAVAILABLE: &str = "MODEL_UNAVAILABLE";

/// A limit of `agents.toml` is reached.
pub const BUDGET_SPENT: &str = "BUDGET_SPENT";

/// `agents.toml` cannot be used.
pub const BAD_SETTINGS: &str = "BAD_SETTINGS";

/// A person must allow a change to a protected file, as policy's own code says.
pub const CONFIRMATION_NEEDED: &str = "CONFIRMATION_NEEDED";
