//! Runs one command that verifies a project, in the sandbox, and reads its log.
//!
//! [`run`] returns the exit code with the [`Log`]: the tests that failed in it and the failure that the rules for logs
//! find, which the caller passes in. [`environment_fault`] tells a broken environment apart from broken code. The crate does not choose the commands
//! and does not compare trees: `project.verify` and `verify.run` do that, each by the rules of its machine.

mod environment;
mod log;
mod run;

pub use environment::fault as environment_fault;
pub use log::{Classify, Finding, Log, Place};
pub use run::{CommandRun, TIMED_OUT, run};
