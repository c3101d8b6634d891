//! The meaning of a log: which failures it shows, and which of them is the cause. No model, no network, and the same
//! answer every time.
//!
//! The rules are data (`rules/*.toml`): patterns of lines, their meaning, and a suggestion. `table` reads them, `find`
//! scans a log, and `rank` decides which of many findings is the cause; `docs/rules.md` explains how to add a rule. A
//! rule invents nothing: every statement comes from the log. What a machine does with findings, such as the verdict of a
//! judge, is decided elsewhere.

mod find;
mod plan;
mod rank;
mod table;

pub use find::Finding;
pub use table::{Fault, Rules};

/// Returns the findings of a log, the most likely cause first; empty if the built-in rules find no failure.
pub fn classify(text: &str) -> Vec<Finding> {
    Rules::default().classify(text)
}
