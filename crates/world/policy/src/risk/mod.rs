//! The risk of a patch: a score from 0 to 1, the sum of named factors, each with its findings, its contribution and its
//! weight.
//!
//! `table.rs` reads the weights, `factors.rs` measures, and `weakened.rs` recognises weakened tests. Nothing here
//! decides: the caller compares the score with the risk that it accepts.

mod factors;
mod table;
mod weakened;

pub use table::Table;
pub use weakened::{Weakening, weakenings};

use crate::Patch;
use serde::Serialize;

/// The risk of a patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// The score, from 0 to 1.
    pub score: f64,
    /// Every factor, including those that contribute nothing.
    pub factors: Vec<Factor>,
}

/// One factor of a risk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Factor {
    /// The factor's name in the table.
    pub name: &'static str,
    /// The measured value: from 0 to 1, and more for a patch that is larger than the table's full size.
    pub value: f64,
    /// The contribution to the score at the value 1.
    pub weight: f64,
    /// The contribution to the score: value times weight.
    pub counts: f64,
    /// A description of the findings; empty if there are none.
    pub found: String,
}

/// Information beside the patch itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// The number of evidence items that support the change: failing tests, logs, traces.
    pub count: usize,
}

/// Scores the risk of a patch, given the evidence that supports it.
pub fn score(patch: &Patch, evidence: Evidence, table: &Table) -> Risk {
    let factors: Vec<Factor> = factors::measure(patch, evidence, table)
        .into_iter()
        .map(|(name, value, found)| {
            let (value, weight) = (value.max(0.0), table.weight(name));
            Factor { name, value: rounded(value), weight, counts: rounded(value * weight), found }
        })
        .collect();
    let score = rounded(factors.iter().map(|factor| factor.counts).sum::<f64>().clamp(0.0, 1.0));
    Risk { score, factors }
}

/// Rounds to a thousandth: an estimate has no higher precision, and people can add such numbers up.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl Risk {
    /// Returns a one-line summary: `0.45: tests_weakened 0.4 (…), size 0.05 (…)`.
    pub fn summary(&self) -> String {
        let mut counting: Vec<&Factor> = self.factors.iter().filter(|factor| factor.counts > 0.0).collect();
        counting.sort_by(|one, other| other.counts.total_cmp(&one.counts));
        let parts: Vec<String> =
            counting.iter().map(|factor| format!("{} {} ({})", factor.name, factor.counts, factor.found)).collect();
        match parts.is_empty() {
            true => format!("{}: no objection", self.score),
            false => format!("{}: {}", self.score, parts.join(", ")),
        }
    }

    /// Returns a factor by its name.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }
}
