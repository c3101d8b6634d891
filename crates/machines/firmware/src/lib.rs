//! The activities of the firmware machine.
//!
//! No activity here touches the user's files until the delivery. Trees are values: a patch turns one tree into
//! another (`copy.rs`), and builds and tests run on a copy of a tree in a directory of the run (`area.rs`). So every
//! step can be repeated after a crash, and the sources stay as they were found, however a run ends; the fix is
//! applied to them last, by `copy.deliver`.
//!
//! `build.rs` builds, `bench/` runs the build in an environment of `interlock-testbench`, `setup/` finds setup errors
//! before any search, `rounds.rs` compares a round with the baseline, `search/` searches for a fix without a model,
//! `delivery/` examines a fix before it is delivered, `knowledge.rs` records rounds, and `learned.rs` presents the
//! records. `table.rs` turns all of these into activities. `draft.rs` writes a first task from a project's build files.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod area;
mod baseline;
mod bench;
mod build;
mod collect;
mod copy;
mod delivery;
mod draft;
mod excerpts;
mod fields;
mod knowledge;
pub mod learned;
mod listed;
mod objections;
mod packages;
mod rounds;
#[cfg(test)]
mod scripted;
mod search;
mod setup;
mod story;
mod table;
mod tools;

pub use draft::{Draft, can_draft, draft};
pub use packages::package_of;
pub use table::{Settings, all};
