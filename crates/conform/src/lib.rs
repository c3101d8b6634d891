//! Whether the engine is right.
//!
//! A *case* is an SCXML document and, beside it, the configurations that it must go through. This crate finds cases in a
//! folder, imports each document as `interlock import` would, runs it on the engine in virtual time, and compares. It decides
//! nothing about semantics: those are in `interlock-core`, and what SCXML means in our words is in `interlock-chart`.
//!
//! It stands apart from the test kit because the command `interlock conform` is for users too: whoever has a suite of SCXML
//! cases can run it.
//!
//! Start reading at `run.rs`.

mod beside;
mod case;
pub mod clock;
mod compare;
mod queue;
mod run;
pub mod simulation;
mod suite;

pub use case::{Case, Expectation, Given, Step};
pub use run::run;
pub use suite::{CaseReport, Found, Report, Verdict, find, run_all};
