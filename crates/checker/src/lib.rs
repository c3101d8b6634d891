//! What a machine can and cannot do.
//!
//! [`check`] explores a machine with the engine's own `step` (there is no second model), with everything that comes from outside as a
//! free choice: signals, failures and timeouts of activities, events of people. It proves that every state can be reached, that there
//! is no dead end, that the machine comes to rest and after how much work at most, and whatever the machine's own properties say; or it
//! tells a shortest way on which that is not so.
//!
//! It is sound: it may refuse what is fine, never pass what is not. What it over-approximates is listed in `docs/checking.md`.
//!
//! Start reading at `check.rs`. `explore.rs` makes the graph (`memo.rs` keeps it from doing the same step twice), `facts/` is what is
//! known of data, `judge.rs` looks at the graph, `bound.rs` measures it.

mod border;
mod bound;
mod builtin;
mod check;
mod dropped;
mod explore;
mod facts;
mod graph;
mod judge;
mod layout;
mod memo;
mod monitor;
mod product;
mod reach;
mod refine;
mod report;
mod story;
mod watch;
mod ways;

/// Names this checker by its sources and those of the engine: a proof holds for the checker that made it.
pub const SOURCES: &str = env!("CHECKER_SOURCES");

pub use border::{Child, Outside, Started, border, children};
pub use builtin::is_proved_builtin;
pub use check::{Knowledge, Options, Size, check, check_within, size};
pub use report::{Bound, Counterexample, Problem, Proof, Report, Stage, Total};
pub use ways::ways;
