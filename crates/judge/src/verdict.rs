//! What a judge says.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a judge says, checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// One of the signals that the question allows.
    pub signal: String,
    /// Data that fits that signal.
    pub data: Value,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Why, in a sentence or two.
    pub reason: String,
    /// The exhibits that it rests on, by id.
    pub evidence_refs: Vec<String>,
}
