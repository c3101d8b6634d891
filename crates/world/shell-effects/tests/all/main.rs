//! The shell reader compared with tree-sitter-bash: every command that the grammar finds, the reader finds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod corpus;
mod random;
