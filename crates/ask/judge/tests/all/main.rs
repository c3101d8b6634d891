//! Tests of judges over real sockets.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod budget;
mod chain;
mod command;
mod dialog;
mod embeddings;
mod faults;
mod injection;
mod machines;
mod mode;
mod providers;
mod rules;
mod telemetry;
mod trial;

#[path = "real_model.rs"]
mod heavy_real_model;
