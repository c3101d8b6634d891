//! What tests are made of.
//!
//! [`script`] moves a machine by a few lines of text and tells what happened; [`random`] makes machines and inputs that nobody
//! would write; [`walk`] finds the data with which a machine goes a given way; [`session`] and [`console`] run a command line and
//! hold it against what a test or a document shows; [`launcher`] builds what starts programs; [`model_server`] speaks as models' servers
//! do; [`processes`] tells which of a command's are left; [`crash`] kills a process at every moment there is, in virtual time. A dev-dependency only: nothing that ships uses it.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A test that cannot go on stops.

pub mod console;
pub mod crash;
pub mod launcher;
pub mod model_server;
pub mod processes;
pub mod random;
mod samples;
pub mod script;
pub mod session;
pub mod walk;
