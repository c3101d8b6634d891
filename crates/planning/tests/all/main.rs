//! The protocol on real sockets, and the machine's rows with the requests that they send.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod client;
mod drive;
mod ends;
mod judged;
mod kernel;
mod rows;
mod server;

#[path = "tables.rs"]
mod heavy_tables;
