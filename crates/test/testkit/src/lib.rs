//! Pure test support.
//!
//! [`script`] moves a machine by a few lines of text and prints what happened; [`random`] makes machines and inputs that nobody
//! would write; [`walk`] finds the data with which a machine takes a given path, from the values of [`samples`]; [`markers`]
//! finds the failure markers of test frameworks in a text.
//!
//! The crate depends on `chart` and `core` only, so that their tests compile neither a database nor a runtime. Other test support:
//! `testkit-activity` (attempts, launcher, model server), `testkit-runs` (crash simulation), `testkit-cli` (sessions of the
//! binary). Each is a dev-dependency only.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A failed precondition ends the test.

pub mod markers;
pub mod random;
pub mod samples;
pub mod script;
pub mod walk;
