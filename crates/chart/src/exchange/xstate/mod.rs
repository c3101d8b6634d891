//! XState v5: the configuration that `createMachine` is given, as JSON.
//!
//! XState's configurations name code (guards, actions, delays) that lives beside them; ours hold it. So a guard is written as
//! `{"type": "cel", "params": {"expr": …}}` and an action as `{"type": "assign", "params": …}`: names that an XState project
//! can implement once for all machines. What XState has no word for stands under `meta.interlock`. A configuration whose root
//! has that was written by [`export`] and says everything about its machine.
//!
//! In a configuration by another hand, code that is only named cannot be carried over. A named guard becomes a variable of
//! the context that is false until something assigns it; a named action becomes a line in the trace; a named delay is refused,
//! because any number would be made up. Each is told in a warning or an error. What changes how a machine moves and has no word here (`route`,
//! `activities`) is refused; a key that does not is left out with a warning that names its line.

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

/// Where our own additions stand, under `meta`.
const OURS: &str = "interlock";
