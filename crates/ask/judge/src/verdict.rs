//! The verdict of a judge.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A judge's answer, after it passed the check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// One of the signals that the question allows.
    pub signal: String,
    /// Data that fits that signal.
    pub data: Value,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The reason, in a sentence or two.
    pub reason: String,
    /// The ids of the exhibits that the verdict rests on.
    pub evidence_refs: Vec<String>,
}
