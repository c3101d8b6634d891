//! Runs in one process and in several: crashes, deadlines, old journals, tampering.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

mod crash;
mod cut_off;
mod old_journals;
mod questions;
mod rules;
mod smoke;
mod tamper;
mod time;
