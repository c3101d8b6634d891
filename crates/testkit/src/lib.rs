//! What tests are made of.
//!
//! [`script`] moves a machine by a few lines of text and tells what happened; [`random`] makes machines and inputs that nobody
//! would write. A dev-dependency only: nothing that ships uses it.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A test that cannot go on stops.

pub mod random;
pub mod script;
