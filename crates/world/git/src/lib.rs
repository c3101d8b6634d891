//! Starts `git`, and is the only place that does.
//!
//! Git is unusual: its settings, attributes and hooks name programs, and a program that worked in a workspace can have
//! written them, also those of a repository inside that git would enter. So git gets walls of its own, which do not
//! depend on the names of settings (`walls.rs`): it cannot start a process, it can execute nothing but itself, it
//! writes only to the places that a call names, reads no device, and has no network. A call that makes no progress is
//! ended (`wait.rs`). The settings in `call.rs` are the second wall, for kernels without the first.
//!
//! Git is always told where the repository and the work tree are (`place.rs`); it never looks for them itself.
//!
//! This crate does not know what a snapshot or a commit is. Tests and documents start git themselves.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod call;
mod error;
mod odd;
mod place;
mod program;
mod wait;
mod walls;

pub use call::{Git, join, split};
pub use error::Error;
pub use odd::{Odd, clear, clear_all, odd_files, open_up};
pub use place::{GitDirs, Place, git_dirs};
pub use program::version;

#[cfg(test)]
mod tests;
