//! Decides whether a project is verified: runs its commands, reads their logs, and finds out what a green end is worth.
//!
//! [`run`] runs one command in the sandbox and returns the exit code with the [`Log`]: the tests that failed in it and the
//! failure that the rules for logs find, which the caller passes in. [`environment_fault`] tells a broken environment apart
//! from broken code. [`Room`] verifies a change: the tested tree is the committed tree, the same checks, the same cases,
//! able to fail. The crate does not choose the commands and asks no person.

mod environment;
mod log;
mod room;
mod run;

pub use environment::fault as environment_fault;
pub use log::{Classify, Finding, Log, Place};
pub use room::{
    Becomes, Question, Room, Verdict, Warning, dependency_folders, remember_dependencies, remove_old_rooms,
};
pub use run::{CommandRun, TIMED_OUT, run};

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
