//! Test support for the binary: [`session`] runs commands and keeps their output; [`console`] runs the commands that a document
//! shows and compares the output; [`mask`] hides the parts that differ from run to run; [`terminal`] types at a real
//! terminal. A dev-dependency only.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A failed precondition ends the test.

pub mod console;
pub mod mask;
pub mod session;
mod shell;
pub mod terminal;
