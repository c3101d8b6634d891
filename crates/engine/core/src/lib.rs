//! The engine: computes how a machine moves.
//!
//! One pure function, [`step`], takes a machine, the state of a run and an input. It returns the new state, the effects
//! to carry out, and a trace of the reasons. It uses no clock, no randomness and no I/O: time, ids and outcomes arrive
//! inside the input, so that a run can be replayed from its recorded inputs and proved before it starts.
//!
//! The semantics are those of W3C SCXML. The files under `interpret/` use the function names of appendix D of the
//! recommendation, so that the two can be read side by side. The engine is generic over its data model ([`Data`]): real
//! runs use [`Values`]; the checker uses partial knowledge about values it has not seen. There is no second model.
//!
//! Start reading at `step.rs`, then `interpret/mod.rs`.

pub mod bounds;
mod data;
mod effect;
mod eval;
mod fault;
mod input;
pub mod interpret;
mod machine;
mod semantics;
mod set;
mod snapshot;
mod state;
mod step;
mod trace;

pub use bounds::EVALUATION_STEPS_MAX;
pub use data::{Data, Scope};
pub use effect::Effect;
pub use eval::{Values, endless_expressions};
pub use fault::Fault;
pub use input::{ActivityEnd, Input};
pub use machine::{Formula, FormulaId, Machine, Operation, Plan};
pub use semantics::Semantics;
pub use set::StateSet;
pub use snapshot::{SNAPSHOT_VERSION, Snapshot, SnapshotError};
pub use state::{ActivityId, Event, EventKey, Pending, Running, State, Status, TimerId};
pub use step::{Step, Verdict, step, step_with};
pub use trace::{Microstep, Observer, Refusal, Refused, Silent, TakenTransition, Trace};
