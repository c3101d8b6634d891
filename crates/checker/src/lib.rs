//! What a machine can and cannot do.
//!
//! [`check`] explores a machine with the engine's own `step` (there is no second model), with everything that comes from outside as a
//! free choice: signals, failures and timeouts of activities, events of people. It proves that every state can be reached, that there
//! is no dead end, that the machine comes to rest and after how much work at most, and whatever the machine's own properties say; or it
//! tells a shortest way on which that is not so.
//!
//! It is sound: it may refuse what is fine, never pass what is not. What it over-approximates is listed in `docs/checking.md`.
//!
//! Start reading at `check.rs`. `explore.rs` makes the graph, `facts/` is what is known of data, `judge.rs` looks at the graph,
//! `bound.rs` measures it.

mod bound;
mod check;
mod explore;
mod facts;
mod graph;
mod judge;
mod layout;
mod monitor;
mod product;
mod refine;
mod report;
mod story;
mod watch;
mod ways;

pub use check::{Knowledge, Options, Size, check, size};
pub use report::{Bound, Counterexample, Problem, Proof, Report, Stage};
pub use ways::ways;
