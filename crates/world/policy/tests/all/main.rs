//! Decisions for a corpus of requests, and policy files.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod corpus;
mod files;
