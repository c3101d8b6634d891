//! The folder a run works in: its content as one hash, kept under a name, and put back.
//!
//! All of it is done by the `git` program on a private git folder under Interlock's own store (`private.rs`), never on the user's own: their index,
//! `HEAD`, branches, objects, stash and configuration are neither used nor changed, and nothing that their configuration names is ever run.
//! Content is taken byte for byte: no line endings are changed, no filter is asked.
//!
//! What belongs to a workspace: in a git repository everything below its root, even where the run works in a folder further down;
//! elsewhere the folder itself. Ignored files do not belong to it, unless the repository tracks them (`scope.rs`). Of a repository inside
//! only the commit it stands at is known. Empty folders and modes other than "executable" are not. Changes of files that cannot be kept are
//! noticed (`unkept.rs`).
//!
//! Start reading at `workspace.rs`.

mod apply;
mod changes;
mod checkpoint;
mod commit;
mod copy;
mod ended;
mod error;
mod git;
mod index;
mod known;
mod legacy;
mod objects;
pub mod patch;
mod path_text;
mod place;
mod private;
mod recovery;
mod repository;
mod restore;
mod scope;
mod sweep;
mod three_way;
mod trees;
mod undo;
mod unkept;
mod workspace;

pub use changes::{Change, Changes, Version};
pub use checkpoint::{Checkpoint, Snapshot};
pub use commit::{COMMIT_EVIDENCE, Commit, Committed, Moved};
pub use ended::{Ended, entry};
pub use error::{Error, Result};
pub use recovery::Recovery;
pub use restore::Restored;
pub use sweep::Swept;
pub use trees::TreeFiles;
pub use undo::{Conflict, Undo};
pub use unkept::{KEPT_BYTES_MAX, NotKept, Why};
pub use workspace::Workspace;

/// The ending of a word for so many.
fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
