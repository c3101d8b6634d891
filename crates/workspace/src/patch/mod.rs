//! Patches: what somebody wants to be changed, as text.
//!
//! Reading ([`Patch::parse`]: `unified.rs`, `begin.rs`) and planning ([`plan`]: `plan.rs`, `seek.rs`) are pure: text and the content of
//! files in, new content out, or every hunk that does not fit. Only `write.rs` touches the disk, and either all of a plan is
//! then there or nothing is changed.

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
pub use plan::{Found, Look, Plan, Planned, plan};
pub use problem::{Misfit, Problem};

pub(crate) use disk::{Disk, FILE_BYTES_MAX};
pub(crate) use write::write;
