//! Tests of the verification room with real projects, runners and sandboxes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)] // A failed precondition ends the test.

mod corpus;
mod project;
mod room;
