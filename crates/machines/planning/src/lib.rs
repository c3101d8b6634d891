//! The Planning/Generating protocol of the machine `notebook`: both sides of it.
//!
//! A planner (`/planning`) says whether targets are achieved; a generator (`/generating`) writes the actions of a
//! behavior. The client side is three activities: `planning.call`, `generating.call` and `notebook.propose`. Each call
//! gets its [`Situation`] from the machine, builds the [`observation`], reduces it by the planner's [`filter`], asks a
//! server ([`client`]) or the built-in one ([`builtin`]), and returns the run's [`Memory`] with its signal.
//!
//! The server side answers with the configured judges, or with [`rules`] that need no model; [`serve`] offers it to other
//! clients over HTTP. The crate knows no kernel and no notebook file: `notebook.action` carries the actions out.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod achievement;
pub mod builtin;
mod call;
pub mod client;
pub mod filter;
mod generating_call;
pub mod memory;
pub mod observation;
mod planning_call;
mod propose;
pub mod reply;
pub mod rules;
pub mod serve;
mod situation;
mod template;
pub mod variable;
mod view;
mod workflow;

pub use achievement::{Achievements, Missed};
pub use call::{Kernels, OUT_OF_SYNC, Permit, Setup};
pub use generating_call::GeneratingCall;
pub use memory::Memory;
pub use planning_call::PlanningCall;
pub use propose::NotebookPropose;
pub use situation::{Part, Situation};
pub use view::ProgressView;
pub use workflow::{Stage, Step, Workflow};
