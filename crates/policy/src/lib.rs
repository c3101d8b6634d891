//! What may be done at all.
//!
//! One pure function, [`decide`]: a [`Request`], the workspace as the one who asks sees it ([`View`]), and a [`Policy`] give a
//! [`Decision`]: allow, deny with a reason, or confirm with what a person is to say yes to. Nothing here looks at a file, a
//! clock or a model's opinion.
//!
//! Start reading at `decide/mod.rs`. Commands are read by `shell/` and understood by `command/`; policy files are read by
//! `read/`; `risk/` says how risky a patch is. `corpus/` holds cases that anybody can add to.

mod command;
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
mod shell;
mod view;

pub use decide::{decide, weigh};
pub use decision::{Decision, Finding, Scope, Weighed};
pub use grant::{BadGrant, Grant};
pub use permission::{Level, Permission, code};
pub use policy::{Limits, Policy};
pub use read::{Problem, Problems};
pub use request::{ChangeKind, Command, FileChange, Freedom, Patch, PathOp, Request};
pub use view::{Ignored, Links, Nothing, View};
