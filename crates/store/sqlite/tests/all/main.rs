//! The SQLite engine: the conformance suite, stored bytes, audits and failures.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that cannot go on has failed")]

mod audit;
mod engine;
mod golden;
mod trouble;
