//! The hands of the firmware machine.
//!
//! Nothing here touches the files of whoever started the run. Trees are values: a patch makes one of another (`copy.rs`), and what is built and run is
//! a copy of a tree in a folder of the run's own (`area.rs`). So everything can be done again after a crash, and however a run ends, the sources are
//! as they were found; the fix is brought there last, by `workspace.apply`.
//!
//! `build.rs` builds, `bench/` runs what was built where `interlock-testbench` says, `setup/` names faults of the set-up before anything is searched,
//! `rounds.rs` compares a round with the baseline, `search/` looks for a fix without a model, `delivery/` examines a fix before it is delivered, `knowledge.rs` remembers, `learned.rs` tells what is remembered. `hand.rs` makes activities
//! of all that.

mod area;
mod baseline;
mod bench;
mod build;
mod collect;
mod copy;
mod delivery;
mod excerpts;
mod fields;
mod hand;
mod knowledge;
pub mod learned;
mod objections;
mod packages;
mod rounds;
mod search;
mod setup;
mod tools;

pub use hand::{Settings, all};
pub use packages::package_of;
