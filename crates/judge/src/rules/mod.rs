//! Judging by rules: no model, no network, the same answer every time.
//!
//! The rules are data (`crates/judge/rules/*.toml`): patterns of lines, what they mean, and what to do about it. `table.rs` reads them, `find.rs`
//! goes through a log, `rank.rs` says which of many findings is the cause, `answer.rs` turns findings into a verdict, and
//! `docs/rules.md` tells how to add one. A rule never invents: what it says stands in the log.

mod answer;
mod find;
mod plan;
mod rank;
mod table;

pub use answer::judge;
pub use find::Finding;
pub use table::{Fault, Rules};

/// What a log shows, the most likely cause first; empty where nothing is wrong that the built-in rules know.
pub fn classify(text: &str) -> Vec<Finding> {
    Rules::default().classify(text)
}
