//! Programs of an attempt: started in the sandbox, listened to, and gone with everything they started when the attempt is over.
//!
//! What a program may do is said by [`Sandbox`]; [`run`] runs one; [`keep`] keeps what it printed as evidence. The launcher that confines
//! it and ends it is `interlock-sandbox`'s.

mod confinement;
mod held;
mod leftovers;
mod output;
mod process;
mod spare;

pub use confinement::{FIELDS, Sandbox, schema};
pub use held::Hold;
pub use leftovers::end_leftovers;
pub use output::{Shown, Stream, Tail, Tell};
pub use process::{Confined, Ended, How, Plan, SANDBOX, find, inherited, keep, not_ended, run};
