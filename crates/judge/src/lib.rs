//! Asked, never trusted.
//!
//! A judge is asked a [`Question`] and says a [`Verdict`]: one of the signals that the state allows, with data that fits. Models,
//! rules and people are judges. Whatever they say is checked here ([`check`]), strictly, before a machine hears of it.
//!
//! [`Judge`] is the activity. `case` makes the question of what a machine gives, [`prompt`] shows it to a model, [`model`] asks,
//! [`panel`] goes from one judge to the next, beginning where the [`Mode`] says, `by_hand` is for the one who is a person, [`settings`] says
//! who they are and [`spent`] what they may cost.

mod activity;
mod by_hand;
mod case;
pub mod check;
pub mod embeddings;
mod mode;
pub mod model;
pub mod panel;
mod probe;
pub mod prompt;
mod question;
pub mod rules;
pub mod settings;
pub mod spent;
pub mod telemetry;
mod verdict;

pub use activity::Judge;
pub use mode::Mode;
pub use probe::{Probe, probe};
pub use question::{AllowedSignal, Exhibit, Question};
pub use verdict::Verdict;
