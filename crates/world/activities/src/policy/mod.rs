//! Policy in use: before programs and requests start (`gate.rs`), and as activities that machines invoke.
//!
//! `interlock-policy` alone decides if an action is allowed. This module supplies its policy (`project.rs`) and the
//! facts about the workspace (`sight.rs`), previews its answer to an activity (`foresee.rs`), and turns patches, plans,
//! tool calls and commits into requests (`check.rs`, `plan.rs`, `call.rs`, `commit.rs`). `granted.rs` knows the permissions that
//! a person has confirmed, and `workspace_grants.rs` keeps those that outlast a run.

mod asked;
mod call;
mod change;
mod check;
mod commit;
mod decider;
mod foresee;
mod gate;
mod granted;
mod patch;
mod plan;
mod project;
mod reach;
mod referee;
mod sight;
mod steps;
mod workspace_grants;

pub use call::policy_call;
pub use check::PolicyCheck;
pub use commit::PolicyCommit;
pub use decider::Decider;
pub use gate::Gate;
pub use plan::policy_plan;
pub use referee::AgentAction;
pub use workspace_grants::{WorkspaceGrant, WorkspaceGrants};

/// The code of an error: the project's policy cannot be used.
pub const BAD_POLICY: &str = "BAD_POLICY";

pub use interlock_activity::code::{CONFIRMATION_NEEDED, POLICY_DENIED};
use interlock_activity::{Outcome, code};
use interlock_chart::Value;
use serde::de::DeserializeOwned;

/// Converts the input of an attempt to the type that an activity needs. Fields that are null count as missing.
fn given<T: DeserializeOwned>(with: &Value) -> Result<T, Outcome> {
    let mut json = serde_json::Value::from(with);
    if let Some(fields) = json.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(json)
        .map_err(|error| Outcome::error(code::BAD_INPUT, format!("`with` does not fit: {error}")))
}

/// Runs work that may block on a thread for blocking work.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Outcome> + Send + 'static) -> Result<T, Outcome> {
    let broken =
        |error: tokio::task::JoinError| Outcome::error(code::FAILED, format!("policy could not be asked: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}
