//! Tests of what runs firmware, with real parts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod board;
mod board_ssh;
mod expect;
mod firmware;
mod own_program;
mod place;
mod qemu;
mod resource;
mod results;
mod sshd;
mod trial;
mod windows;
