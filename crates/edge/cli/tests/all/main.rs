//! The command line as users see it, its documents, and the structure of the workspace. One binary, because linking
//! everything that the program uses takes longer than most of these tests.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed"
)]

mod action;
mod brain;
mod bug;
mod by_hand;
mod children;
mod coder;
mod deadlines;
mod documents;
mod faults;
mod firmware;
mod hardship;
mod injection;
mod judges;
mod kill;
mod once;
mod overlap;
mod places;
mod prd;
mod prepared;
mod published;
mod questions;
mod release;
mod runs;
mod search_path;
mod secrets;
mod serve;
mod sessions;
mod terminal;
mod together;
mod undo;
mod workspace;

#[path = "agents/mod.rs"]
mod heavy_agents;
#[path = "kernels/mod.rs"]
mod heavy_kernels;
#[path = "notebook/mod.rs"]
mod heavy_notebook;
#[path = "packages.rs"]
mod heavy_packages;
