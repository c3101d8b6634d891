//! Judging by rules: no model, no network, and the same answer every time.
//!
//! The rules are data (`crates/judge/rules/*.toml`): patterns of lines, their meaning, and a suggestion. `table.rs`
//! reads them, `find.rs` scans a log, `rank.rs` decides which of many findings is the cause, `answer.rs` turns findings
//! into a verdict, and `docs/rules.md` explains how to add a rule. A rule invents nothing: every statement comes from
//! the log.

mod answer;
mod find;
mod plan;
mod rank;
mod table;

pub use answer::judge;
pub use find::Finding;
pub use table::{Fault, Rules};

/// Returns the findings of a log, the most likely cause first; empty if the built-in rules find no failure.
pub fn classify(text: &str) -> Vec<Finding> {
    Rules::default().classify(text)
}
