//! The tools on real files, with real git and a real sandbox, without a run.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod catalogue;
mod commands;
mod history;
mod reading;
mod several;
mod trial;
mod writing;
