//! The tools of a coding agent and the activity `tool.call` that runs them.
//!
//! [`catalogue`] lists the tools as a model sees them: name, description, arguments, permission, effect. One file per
//! tool lies in `tools/`; it also states the requests of a call (`requests.rs`). `activity.rs` is the activity; `args.rs`
//! checks arguments, `scene.rs` confines paths to the workspace, `seen.rs` remembers the versions of files that the model
//! has read, and `error.rs` holds the seven error codes.
//!
//! The crate decides nothing about permissions: `policy.call` does that before a call, and the gate of
//! `crates/world/activities` once more before a command starts. It knows no model and no runtime.

mod accounted;
mod activity;
mod args;
mod cut;
mod diff;
mod error;
mod ignored;
mod meaning;
mod problem;
mod requests;
mod scene;
mod seen;
mod tool;
mod tools;
mod walk;

pub use activity::ToolCall;
pub use diff::preview;
pub use error::{ErrorCode, ToolError};
pub use meaning::Meaning;
pub use requests::{hinted, protected, requests, seen};
pub use tool::{Effect, Tool};
pub use tools::{catalogue, find};
