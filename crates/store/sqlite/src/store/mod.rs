//! The tables and the operations on them. Every function here only reads, or works within a transaction that its caller
//! began.

pub(crate) mod append;
pub(crate) mod chain;
pub(crate) mod leases;
pub(crate) mod messages;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod seal;
mod source;

pub(crate) use schema::{is_current, open};
pub(crate) use source::Source;
