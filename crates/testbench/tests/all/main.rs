//! Tests of what runs firmware, with real parts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod aarch64;
mod attempt;
mod board;
mod board_ssh;
mod expect;
mod faults;
mod firmware;
mod ipmi;
// The kit of tests stands on the runtime, and that on this crate: all of it would be compiled before the first test.
#[allow(unreachable_pub, reason = "it is part of another crate")]
#[path = "../../../testkit/src/launcher.rs"]
mod launcher;
mod local;
mod own_program;
mod place;
mod qemu;
mod redfish;
mod resource;
mod results;
mod sshd;
mod trial;
mod windows;
