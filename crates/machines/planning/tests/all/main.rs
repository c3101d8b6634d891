//! The protocol on real sockets, and the machine's rows with the requests that they send.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod client;
mod drive;
mod ends;
mod judged;
mod kernel;
mod rows;
mod server;

#[path = "questions.rs"]
mod heavy_questions;
#[path = "tables.rs"]
mod heavy_tables;
