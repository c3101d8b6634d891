//! The engine's rules one by one, and random machines. `allocation.rs` is a binary of its own: it counts the
//! allocations of the whole process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod random;
mod rules;
