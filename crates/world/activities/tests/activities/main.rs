//! Activities as machines see them, with real processes and real sockets.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod command;
mod external;
mod gate;
mod granted;
mod http;
mod policy;
mod stopping;
mod triage;
mod trial;
mod waiting;
mod workspace;
