//! Tests of workspaces on a real disk with the real git. They are one program, because linking dominates the build
//! time.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod attacks;
mod chance;
mod changes;
mod closed;
mod commits;
mod copies;
mod folder;
mod keeping;
mod mapped;
mod nested;
mod parents;
mod patch_failures;
mod patch_files;
mod patch_git;
mod patch_text;
mod placed;
mod published;
mod recovery;
mod references;
mod snapshots;
mod store;
mod swapped;
mod tree;
mod trees;
mod worktrees;
