//! Judges: models, rules and people answer questions, and every answer is checked before a machine uses it.
//!
//! A judge gets a [`Question`] and returns a [`Verdict`]: one of the signals that the state allows, with data that fits
//! its schema. The checks are in [`check`]; they are strict and local.
//!
//! [`Judge`] is the activity. `case` builds the question from a machine's input, [`prompt`] renders it for a model,
//! the crate `model` calls servers and programs, [`panel`] asks one judge after the other, starting at the position that the
//! [`Mode`] selects, `dialog` lets a model call tools over several judgements, `by_hand` handles answers of a person, [`settings`] configures the judges, and [`spent`] enforces
//! their budget.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod activity;
mod asker;
mod author;
mod by_hand;
mod case;
pub mod check;
mod dialog;
mod judged;
mod last;
mod mode;
pub mod panel;
mod probe;
pub mod prompt;
mod question;
pub mod rules;
pub mod settings;
pub mod spent;
mod verdict;

/// The beginning of a notice about a call that was refused before policy saw it, because it does not fit a tool.
pub const REFUSED_CALL: &str = "refused ";

pub use activity::Judge;
pub use judged::{JudgementSummary, by_hand};
pub use mode::Mode;
pub use probe::{Probe, bare_attempt, probe};
pub use question::{AllowedSignal, Exhibit, Question};
pub use verdict::Verdict;
