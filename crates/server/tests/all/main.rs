//! The page in a real browser, against the real program: what a person sees and does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test that cannot go on has failed")]

mod accessible;
mod answering;
mod board;
mod chart;
mod connection;
mod crowd;
mod difference;
mod ends;
mod evidence;
mod history;
mod injection;
mod notebook;
mod phone;
mod proxy;
mod roles;
mod scale;
mod scene;
mod typing;
