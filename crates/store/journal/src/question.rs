//! Questions that a running attempt asks a person. The answer is an ordinary event that carries the question's id.

use interlock_chart::Value;
use interlock_core::ActivityId;
use serde::{Deserialize, Serialize};

/// A question that a running attempt asks a person. The machine does not react to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The start of the activity that asks.
    pub activity: ActivityId,
    /// The number of the attempt that asks.
    pub number: u32,
    /// The id of the question; its answer carries the same id. Unique among the open questions of a run.
    pub id: String,
    /// The event that answers it.
    pub event: String,
    /// The question in words.
    pub text: String,
    /// The data to decide by.
    #[serde(default = "Value::empty", skip_serializing_if = "is_empty")]
    pub shows: Value,
    /// The end of the time for an answer, in milliseconds since 1970.
    pub until_ms: i64,
}

/// A question that ended without an answer while its attempt went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The start of the activity that asked.
    pub activity: ActivityId,
    /// The number of the attempt that asked.
    pub number: u32,
    /// The id of the question.
    pub id: String,
    /// The reason, in words.
    pub why: String,
}

fn is_empty(data: &Value) -> bool {
    *data == Value::empty()
}
