//! Hashes, stores and restores the workspace of a run: the files that the run works on.
//!
//! All of this uses git's formats and the `git` program on a private git directory in Interlock's store (`private.rs`), never on the
//! user's git directory. The user's index, `HEAD`, branches, objects, stash and configuration are neither used nor
//! changed, and no program that their configuration names is ever run. Content is stored byte for byte, without
//! conversion of line endings and without filters.
//!
//! In a git repository the workspace is everything below the repository's root, even if the run works in a
//! subdirectory. Otherwise it is the run's directory. Ignored files are not part of it unless the repository tracks
//! them (`scope.rs`). The files of a nested repository are a workspace of their own (`nested.rs`). Empty directories and modes other
//! than "executable" are not recorded. Changes to files that cannot be stored are detected (`unkept.rs`).
//!
//! Snapshots in quick succession are made without starting `git`, from the files that the process remembers
//! (`listing/mod.rs`); `loose.rs` writes their objects in git's format.
//!
//! Start reading at `workspace.rs`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod apply;
mod changes;
mod checkout;
mod checkpoint;
mod cleared;
mod commit;
mod compare;
mod copy;
mod ended;
mod error;
mod git;
mod history;
mod hooks;
mod index;
mod known;
mod legacy;
mod links;
mod listing;
mod loose;
mod nested;
mod objects;
mod parent;
pub mod patch;
mod path_text;
mod place;
mod private;
mod recovery;
mod refs;
mod repository;
mod restore;
mod scope;
mod secrets;
mod sweep;
mod tag;
mod three_way;
mod trees;
mod undo;
mod unkept;
mod workspace;
mod worktree;

pub use changes::{Change, Changes, Version};
pub use checkpoint::{Checkpoint, Snapshot};
pub use commit::{COMMIT_EVIDENCE, Commit, Committed, Exported, Moved, NOTHING_TO_COMMIT};
pub use compare::Comparison;
pub use ended::{EndSnapshot, entry};
pub use error::{Error, Result};
pub use hooks::{Hook, HookRunner};
pub use interlock_git::{GitDirs, Place};
pub use private::VIEW_FILES;
pub use recovery::Recovery;
pub use restore::Restored;
pub use sweep::Swept;
pub use trees::TreeFiles;
pub use undo::{Conflict, Undo};
pub use unkept::{KEPT_BYTES_MAX, NotKept, Why};
pub use workspace::Workspace;
pub use worktree::{Applied, Content, Unapply, Worktree, apply_in_place, checked_out, contains};

/// Returns the plural ending of an English noun for this count.
fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
