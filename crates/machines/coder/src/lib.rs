//! The activities of the machine `coder`, except its tools and its model loop.
//!
//! `turn.open` keeps the tree that a turn begins with and the project's verification commands, `plan.next` keeps the
//! status of the plan's steps (`plan.rs`), `verify.run` decides if the change of a turn is verified, and `turn.facts`
//! collects the recorded facts that a summary may state. Both read the turn's records (`record.rs`) and find the paths that
//! the turn itself has changed (`change.rs`). `turn.words` compares the words of a
//! model with them (`claims.rs`, `said.rs`). `asking.rs` reads by rules if a request may ask for a change. `failure.rs` translates the
//! error codes of activities to the codes that the user of `coder` sees.
//!
//! The crate knows no runtime, no policy and no model: the binary puts `verify.run` behind its gate, `interlock-tools`
//! has the tools, and `interlock-judge` talks to models.

mod accounted;
mod asking;
mod change;
mod claims;
mod facts;
mod failure;
mod plan;
mod record;
mod said;
mod turn;
mod verify;
mod words;

pub use facts::TurnFacts;
pub use failure::Failure;
pub use plan::PlanNext;
pub use turn::TurnOpen;
pub use verify::VerifyRun;
pub use words::TurnWords;

use interlock_activity::{Attempt, Ending, Outcome, code};
use interlock_chart::Value;
use serde::Serialize;

/// Runs work that may block on a thread for blocking work.
fn begin(attempt: Attempt, work: impl FnOnce(&Attempt) -> Result<Outcome, Outcome> + Send + 'static) -> Ending {
    Box::pin(async move { blocking(move || work(&attempt)).await.unwrap_or_else(|error| error) })
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Outcome> + Send + 'static) -> Result<T, Outcome> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Outcome::error(code::FAILED, error.to_string())))
}

/// Converts serializable data to a value.
fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).map_or(Value::Null, Value::from)
}
