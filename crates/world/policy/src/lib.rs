//! The policy: decides which operations are permitted.
//!
//! One pure function, [`decide`], maps a [`Request`], the caller's view of the workspace ([`View`]) and a [`Policy`] to
//! a [`Decision`]: allow, deny with a reason, or confirm with the scopes that a person must confirm. This crate reads
//! no file, no clock and no model's opinion.
//!
//! Start reading at `decide/mod.rs`. `shell/` parses commands and `command/` analyses them; `read/` reads policy files;
//! `risk/` scores the risk of a patch. `corpus/` holds test cases; new cases are welcome.

mod decide;
mod decision;
mod exact;
mod glob;
mod grant;
mod path;
mod permission;
mod policy;
mod read;
mod request;
pub mod risk;
mod view;

pub use decide::{decide, weigh};
pub use decision::{Decision, Finding, Scope, Weighed};
pub use grant::{BadGrant, Grant};
pub use interlock_shell_effects::PathOp;
pub use permission::{Level, Permission, code};
pub use policy::{Limits, Policy};
pub use read::{Problem, Problems};
pub use request::{ChangeKind, Command, FileChange, Freedom, Patch, Request};
pub use view::{Ignored, Links, Nothing, View};
