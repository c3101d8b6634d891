//! The three real agents against a scripted model on loopback, and scripts that lie.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod liars;
mod logins;
mod trial;

#[path = "limits.rs"]
mod heavy_limits;
#[path = "relay.rs"]
mod heavy_relay;
#[path = "turns.rs"]
mod heavy_turns;
