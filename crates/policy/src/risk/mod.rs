//! How risky a patch is: a number from 0 to 1 made of named factors, each with what was found, what it counts and why.
//!
//! `table.rs` reads the weights, `factors.rs` measures, `weakened.rs` knows what makes a test weaker. Nothing here decides: who
//! asks compares the number with what they are ready to take.

mod factors;
mod table;
mod weakened;

pub use table::Table;
pub use weakened::{Weakening, weakenings};

use crate::Patch;
use serde::Serialize;

/// How risky a patch is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// From 0 to 1.
    pub score: f64,
    /// What it is made of: every factor, also those that count nothing.
    pub factors: Vec<Factor>,
}

/// One reason for a risk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Factor {
    /// Its name in the table.
    pub name: &'static str,
    /// How much of it was found, from 0 to 1.
    pub value: f64,
    /// The most it can count.
    pub weight: f64,
    /// What it counts: value times weight.
    pub counts: f64,
    /// What was found, in words; empty where nothing was.
    pub found: String,
}

/// What is known beside the patch itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// How many pieces of evidence speak for the change: failing tests, logs, traces.
    pub count: usize,
}

/// How risky a patch is, given what speaks for it.
pub fn score(patch: &Patch, evidence: Evidence, table: &Table) -> Risk {
    let factors: Vec<Factor> = factors::measure(patch, evidence, table)
        .into_iter()
        .map(|(name, value, found)| {
            let (value, weight) = (value.clamp(0.0, 1.0), table.weight(name));
            Factor { name, value: rounded(value), weight, counts: rounded(value * weight), found }
        })
        .collect();
    let score = rounded(factors.iter().map(|factor| factor.counts).sum::<f64>().clamp(0.0, 1.0));
    Risk { score, factors }
}

/// A thousandth is all that a guess is worth, and makes for numbers that people can add up.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl Risk {
    /// In one line: `0.45: tests_weakened 0.4 (…), size 0.05 (…)`.
    pub fn summary(&self) -> String {
        let mut counting: Vec<&Factor> = self.factors.iter().filter(|factor| factor.counts > 0.0).collect();
        counting.sort_by(|one, other| other.counts.total_cmp(&one.counts));
        let parts: Vec<String> =
            counting.iter().map(|factor| format!("{} {} ({})", factor.name, factor.counts, factor.found)).collect();
        match parts.is_empty() {
            true => format!("{}: nothing counts against it", self.score),
            false => format!("{}: {}", self.score, parts.join(", ")),
        }
    }

    /// A factor by its name.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }
}
