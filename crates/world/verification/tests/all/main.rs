//! Tests of the verification room with real projects, runners and sandboxes.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)] // A failed precondition ends the test.

#[path = "corpus.rs"]
mod heavy_corpus;
mod project;
mod room;
