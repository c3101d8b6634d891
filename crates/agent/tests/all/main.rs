//! The three real agents against a scripted model on loopback. Each test runs with every agent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod trial;
mod turns;
