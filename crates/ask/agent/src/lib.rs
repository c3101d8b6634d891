//! Drives coding agents: Claude Code, Codex, everything that speaks the Agent Client Protocol, and our own machine `coder`
//! (`coder.rs`).
//!
//! [`AgentPrompt`] is the activity. [`settings`] reads `agents.toml`; [`driver`] translates between each agent's protocol
//! and one contract, without a process and without I/O; `turn` talks to the confined program; `ended` decides about the
//! outcome; `session` keeps the state that must survive a restart; `git` compares the repository around a turn.
//!
//! An agent's words decide nothing here. The changed files come from our own snapshots, and an agent that reports
//! success after a denial, a cancellation or an outage is not believed.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod accounted;
mod activity;
mod budget;
mod change;
pub mod code;
mod coder;
mod confinement;
pub mod driver;
mod ended;
mod facts;
mod gemini;
mod git;
mod homes;
mod launch;
mod logins;
mod observed;
mod plan;
mod probe;
mod prompt;
mod protected;
mod record;
mod referee;
mod relay;
mod secrets;
mod session;
pub mod settings;
mod turn;

pub use activity::{AgentPrompt, Setup};
pub use homes::{continue_run, homes, remove_homes};
pub use logins::remove_left_logins;
pub use probe::{Probe, probe};
pub use referee::{Referee, Ruling, Writing};
pub use relay::{Api, Key, RelaySettings};
pub use secrets::keys;
pub use session::choose;
