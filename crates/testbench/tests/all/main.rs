//! Tests of what runs firmware, with real parts, and of what its results mean.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod expect;
mod resource;
mod results;
