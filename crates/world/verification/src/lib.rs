//! Decides whether a project is verified: runs its commands, reads their logs, and finds out what a green end is worth.
//!
//! [`run`] runs one command in the sandbox and returns the exit code with the [`Log`]: the tests that failed in it and the
//! failure that the rules for logs find. [`environment_fault`] tells a broken environment apart
//! from broken code. [`Room`] verifies a change: the tested tree is the committed tree, the same checks, the same cases,
//! able to fail. The crate does not choose the commands and asks no person.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod asked;
mod changed_checks;
mod environment;
mod log;
mod room;
mod run;

pub use asked::{AskedFiles, PATH, asked_files, is_same_file};
pub use environment::fault as environment_fault;
pub use log::{Log, Place, Reported, reported};
pub use room::{
    Becomes, FOREIGN, Question, Room, UNCOMMITTABLE, Verdict, Warning, dependency_folders, is_test,
    remember_dependencies, remove_old_rooms, share_dependencies,
};
pub use run::{CommandRun, TIMED_OUT, run};

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
