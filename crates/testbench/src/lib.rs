//! Where firmware runs, and what its test results mean.
//!
//! Every kind of place keeps one contract ([`Environment`]): set up, bring the image there, check that it lives, run, fetch what is left,
//! reset, tear down. A [`Session`] is a folder: whatever an operation leaves for the next one is a file in it, so that nothing depends on a
//! process that lives from one to the other, and a crash leaves no emulator behind. [`results`] reads what test frameworks print into one form.
//!
//! It does not know machines or runs, and it does not judge: whether a result is good enough is decided elsewhere.

mod bmc;
mod board;
mod confined;
mod environment;
pub mod expect;
pub mod fault;
mod fetch;
mod fields;
mod kinds;
mod leftovers;
mod local;
mod own_program;
mod pattern;
mod profile;
mod qemu;
mod resource;
pub mod results;
mod script_host;
mod session;
mod settings;
mod ssh;
mod stop;
mod tool;
mod trouble;
mod walk;

pub use environment::{Bench, Doing, Environment, Fault, Kept, Operation, Ran, Reset, Start, Stop};
pub use kinds::environment;
pub use local::Local;
pub use profile::{Profile, Suite};
pub use qemu::{Qemu, package as qemu_package};
pub use resource::{Held, Resource, Resources, Who};
pub use session::{Session, was_printing};
pub use trouble::Trouble;
