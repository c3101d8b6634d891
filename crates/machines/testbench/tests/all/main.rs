//! Tests of the environments that run firmware, with real parts.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod aarch64;
mod attempt;
mod board;
mod board_ssh;
mod expect;
mod faults;
mod firmware;
mod ipmi;
mod local;
mod own_program;
mod place;
mod qemu;
mod resource;
mod sshd;
mod trial;
mod windows;

#[path = "redfish.rs"]
mod heavy_redfish;
