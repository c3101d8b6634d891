//! XState v5: the configuration of `createMachine`, as JSON.
//!
//! XState's configurations refer by name to code (guards, actions, delays) that is defined elsewhere; ours contain it.
//! So a guard is written as `{"type": "cel", "params": {"expr": …}}` and an action as
//! `{"type": "assign", "params": …}`: names that an XState project can implement once for all machines. Features that
//! XState lacks are written under `meta.interlock`. A configuration whose root has that key was written by [`export`]
//! and describes its machine completely.
//!
//! In any other configuration, code that is only named cannot be imported. A named guard becomes a variable of the
//! context that is false until something assigns it. A named action becomes a line in the trace. A named delay is
//! refused, because any number would be invented. Each case is reported in a warning or an error. Keys that affect
//! transitions and have no equivalent here (`route`, `activities`) are refused. Other unknown keys are omitted with a
//! warning that names their line.

mod actions;
mod export;
mod import;
mod place;
mod states;
mod targets;
mod transitions;
mod wildcards;
mod write;

pub(super) use export::export;
pub(super) use import::import;

/// The key of our additions under `meta`.
const OURS: &str = "interlock";
