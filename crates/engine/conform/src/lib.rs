//! Checks that the engine conforms to SCXML.
//!
//! A *case* is an SCXML document with a file of the configurations that it must go through. This crate finds cases in a
//! directory, imports each document as `interlock import` would, runs it on the engine in virtual time, and compares
//! the configurations. It decides nothing about semantics: those are in `interlock-core`, and the translation from
//! SCXML is in `interlock-chart`.
//!
//! It is separate from the test kit because the command `interlock conform` is for users too: anyone with a suite of
//! SCXML cases can run it.
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

pub use case::{ConformanceCase, Expectation, SentEvent, Step};
pub use run::run;
pub use suite::{CaseReport, Report, SuiteContents, Verdict, find, run_all};
