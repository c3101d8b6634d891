//! Programs of an attempt: started in the sandbox, read while they run, and ended with all their children when the
//! attempt is over.
//!
//! [`Sandbox`] defines the permissions of a program, [`run`] runs one to its end, [`Conversation`] talks to one while it
//! runs, and [`keep`] stores its output as evidence.
//! The launcher that confines and ends the program belongs to `interlock-sandbox`.

mod confinement;
mod conversation;
mod output;
mod process;
mod program;
mod spare;
mod way_out;

pub use confinement::{FIELDS, Sandbox, schema};
pub use conversation::{Conversation, LINE_BYTES_MAX, ProgramInput, ProgramOutput};
pub use interlock_proxy::{Allow, BadHost, Destination, Verdict};
pub use output::{Shown, Stream, Tail, Tell};
pub use process::{Confined, How, Plan, ProgramResult, SANDBOX, find, inherited, keep, not_ended, run};
pub use program::Control;
