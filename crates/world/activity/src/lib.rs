//! The contract between the runtime and activities.
//!
//! A machine orders work by naming an [`Activity`]; the activity does the work and ends with one of its signals or an
//! error. It decides nothing else. A new activity is one type that implements the trait and one line that adds it to a
//! [`Registry`].

mod activity;
mod admission;
mod arguments;
mod attempt;
mod invocation;
mod outcome;
pub mod project;
pub mod refused;
mod registry;
pub mod report;
pub mod schema;
mod signal;
mod stand_in;
mod view;

pub use activity::{Activity, Ending, Future};
pub use admission::{Gatekeeper, Requests, Site};
pub use arguments::{Arguments, BadArgument};
pub use attempt::{
    Attempt, Cancel, Canceller, Host, PastMove, PastOutcome, ProjectFile, Question, StartRun, TakeBack, TakenBack,
    UseGrants, Writes,
};
pub use interlock_chart::model::{EffectClass, Schema};
pub use invocation::{HandledSignal, Invocation};
pub use outcome::{Outcome, OutcomeKind, code, error_data};
pub use registry::Registry;
pub use signal::Signal;
pub use stand_in::{StandIn, StandInQuestion};
pub use view::{RunState, RunView};
