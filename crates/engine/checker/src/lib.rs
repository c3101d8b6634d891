//! Proves properties of machines.
//!
//! [`check`] explores a machine with the engine's `step` (there is no second model). Everything that comes from outside
//! is a free choice: signals, failures and timeouts of activities, events of people. It proves that every state can be
//! reached, that there is no dead end, that the machine comes to rest and after how much work at most, and that the
//! machine's properties hold. If a claim fails, it reports a shortest counterexample.
//!
//! The checker is sound: it may refuse a correct machine, but never accepts an incorrect one. `docs/checking.md` lists
//! its over-approximations.
//!
//! Start reading at `check.rs`. `explore.rs` builds the graph (`memo.rs` keeps it from taking the same step twice),
//! `facts/` holds the knowledge about data, `judge.rs` examines the graph, `bound.rs` computes its bounds.

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

/// Identifies this checker by its sources and those of the engine: a proof holds for the checker that made it.
pub const SOURCES: &str = env!("CHECKER_SOURCES");

pub use border::{Child, Outside, Started, border, children};
pub use builtin::is_proved_builtin;
pub use check::{Knowledge, Options, Size, check, check_within, size};
pub use report::{Bound, Counterexample, Problem, Proof, Report, Stage, Total};
pub use ways::ways;
