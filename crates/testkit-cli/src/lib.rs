//! Test support for the binary: [`session`] runs commands and keeps their output; [`console`] runs the commands that a document
//! shows and compares the output; [`mask`] hides what differs from run to run. A dev-dependency only.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A test that cannot go on stops.

pub mod console;
pub mod mask;
pub mod session;
mod shell;
