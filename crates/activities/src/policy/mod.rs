//! Policy where it meets the world: before programs and requests start (`gate.rs`), and as activities that machines ask.
//!
//! What may be done is decided by `interlock-policy` alone. Here is where its policy comes from (`project.rs`), what it is told of
//! the workspace (`sight.rs`), what it would say to a command (`foresee.rs`), and how patches, plans and tool calls become requests (`check.rs`, `plan.rs`, `call.rs`).

mod asked;
mod call;
mod change;
mod check;
mod decider;
mod foresee;
mod gate;
mod patch;
mod plan;
mod project;
mod sight;
mod steps;
mod tools;

pub use call::policy_call;
pub use check::PolicyCheck;
pub use decider::Decider;
pub use foresee::foresee;
pub use gate::{Gate, Guarded};
pub use plan::policy_plan;

/// The code of an error: policy does not allow it.
pub const POLICY_DENIED: &str = "POLICY_DENIED";
/// The code of an error: a person has to say yes first.
pub const CONFIRMATION_NEEDED: &str = "CONFIRMATION_NEEDED";
/// The code of an error: the project's policy cannot be used.
pub const BAD_POLICY: &str = "BAD_POLICY";

use interlock_activity::{Outcome, code};
use interlock_chart::Value;
use serde::de::DeserializeOwned;

/// What a machine gives, as the type that an activity needs. Fields that are null count as not given.
fn given<T: DeserializeOwned>(with: &Value) -> Result<T, Outcome> {
    let mut json = serde_json::Value::from(with);
    if let Some(fields) = json.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(json)
        .map_err(|error| Outcome::error(code::BAD_INPUT, format!("`with` does not fit: {error}")))
}

/// Runs what may block where it may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Outcome> + Send + 'static) -> Result<T, Outcome> {
    let broken =
        |error: tokio::task::JoinError| Outcome::error(code::FAILED, format!("policy could not be asked: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}
