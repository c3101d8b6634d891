//! Patches: requested changes of files, as text.
//!
//! Parsing ([`Patch::parse`]: `unified.rs`, `begin.rs`) and planning ([`plan`]: `plan.rs`, `seek.rs`) are pure. They
//! take the text and the content of the files and return the new content, or every hunk that does not fit. Only
//! `write.rs` touches the disk; it applies a plan completely or changes nothing.

mod begin;
mod disk;
mod git_header;
mod hunk;
mod misfit;
mod model;
mod path;
mod plan;
mod problem;
mod seek;
mod text;
mod unified;
mod write;

pub use hunk::{Hunk, HunkLine, Sign};
pub use model::{FilePatch, Kind, Node, Patch};
pub use path::check as check_path;
pub use plan::{Look, LookupResult, Plan, Planned, plan};
pub use problem::{Misfit, Problem};

pub(crate) use disk::{Disk, FILE_BYTES_MAX};
pub(crate) use problem::IGNORED;
pub(crate) use write::write;
