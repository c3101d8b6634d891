//! What templates propose, how suspects are ranked, and what a search makes of results.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod confidence;
mod doubts;
mod localise;
mod patches;
mod robust;
mod search;
mod templates;
