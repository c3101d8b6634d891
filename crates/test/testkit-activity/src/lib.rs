//! Test support for activities.
//!
//! [`attempt`] makes an attempt that belongs to no run; [`Recorder`] is its host; [`EndedAttempt`] is its outcome, ready to compare.
//! [`browser`] drives a headless Chromium; [`launcher`] builds the program that starts sandboxed programs; [`processes`] finds the processes that a command has left;
//! [`model_server`] is an HTTP server that answers as providers of models do; [`real_agents`] points installed coding agents at it.
//! A dev-dependency only.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A failed precondition ends the test.
#![allow(clippy::disallowed_methods, reason = "tests start what they need")]
#![allow(clippy::print_stderr)] // A test that is left out says so.

mod attempt;
pub mod browser;
mod ended;
mod host;
pub mod launcher;
pub mod model_server;
pub mod parts;
pub mod processes;
pub mod real_agents;

pub use attempt::attempt;
pub use ended::EndedAttempt;
pub use host::Recorder;
