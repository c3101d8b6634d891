//! The tables, and what is done with them. Every function here works within a transaction that somebody else began, or only reads.

pub(crate) mod append;
pub(crate) mod chain;
pub(crate) mod leases;
pub(crate) mod messages;
pub(crate) mod read;
mod schema;
pub(crate) mod seal;

pub(crate) use schema::{open, open_reader};
