//! Deadlines and repeated events, in virtual time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod deadlines;
mod once;
mod scene;
