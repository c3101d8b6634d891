//! The three real agents against a scripted model on loopback, and scripts that lie.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod liars;
mod limits;
mod logins;
mod relay;
mod trial;
mod turns;
