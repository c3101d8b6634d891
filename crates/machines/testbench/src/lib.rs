//! Environments in which firmware runs, and parsers for test results.
//!
//! Every kind of environment implements one contract ([`Environment`]): set up, deploy the image, check its health,
//! run, fetch files, reset, tear down. A [`Session`] is a directory: an operation passes its results to the next one
//! as files there. So no process has to live from one operation to the next, and a crash leaves no emulator behind.
//! [`results`] parses the output of test frameworks into one form.
//!
//! The crate does not know machines or runs, and it does not judge: its callers decide whether a result is good
//! enough.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod bmc;
mod board;
mod confined;
mod environment;
pub mod expect;
pub mod fault;
mod fetch;
mod fields;
mod gcov;
mod kinds;
mod leftovers;
mod local;
mod own_program;
mod pattern;
mod profile;
mod qemu;
mod resource;
mod script_host;
mod session;
mod settings;
mod ssh;
mod stop;
mod tool;
mod trouble;
mod walk;

pub use environment::{Bench, Doing, Environment, FetchedFile, Operation, Reset};
pub use interlock_test_results::{Fault, Limit, Ran, Start, Stop};
pub use kinds::environment;
pub use local::Local;
pub use profile::{Profile, Suite};
pub use qemu::{Qemu, package as qemu_package};
pub use resource::{HeldResource, Resource, Resources, Who};
pub use session::{Session, was_printing};
pub use trouble::Trouble;
