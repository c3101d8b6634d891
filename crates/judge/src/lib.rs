//! Asked, never trusted.
//!
//! A judge is asked a [`Question`] and says a [`Verdict`]: one of the signals that the state allows, with data that fits. Models,
//! rules and people are judges. Whatever they say is checked here, strictly, before a machine hears of it.

mod question;
pub mod rules;
mod verdict;

pub use question::{AllowedSignal, Exhibit, Question};
pub use verdict::Verdict;
