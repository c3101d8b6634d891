//! The page in a real browser, against the real program: what a person sees and does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test that cannot go on has failed")]

mod answering;
mod browser;
mod connection;
mod evidence;
mod history;
mod injection;
mod roles;
mod scene;
