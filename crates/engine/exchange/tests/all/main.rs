//! Machines in other formats: imports, exports, round trips and damaged documents.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod damage;
mod mermaid;
mod round_trip;
mod scxml_import;
mod xstate_import;
