//! Runs: load, step, commit, dispatch.
//!
//! A run is moved by what happens to it and by nothing else. Each thing that happens becomes a record; the record is durable before
//! anything is done about it; what is to be done is what [`step`](interlock_core::step) said. After a crash the records
//! are folded through the same function again, and what was under way is looked after by its effect class (`recover.rs`).
//!
//! Start reading at `live.rs` (a run in memory, no I/O), then `actor.rs` (one task per run that is being moved), then `runtime.rs`.

pub mod activities;
mod actor;
mod admit;
mod clock;
mod counters;
mod dispatch;
mod error;
mod grants;
mod host;
mod live;
mod loaded;
mod moves;
mod name;
mod news;
mod offers;
mod recover;
mod redaction;
mod replay;
mod runtime;
mod saved;
mod schema;
mod snapshots;
mod undo;

pub use admit::Refused;
pub use clock::{Clock, SystemClock};
pub use error::{Error, Result};
pub use grants::{Grants, Held};
pub use interlock_firmware::{learned, package_of};
pub use interlock_program::find as find_program;
pub use interlock_workspace::{Change, Checkpoint, Conflict, Moved, Workspace};
pub use live::{Begun, Live, Order, Turn};
pub use loaded::Loaded;
pub use moves::{Counted, Move, RefusedMove};
pub use name::fresh_name;
pub use news::News;
pub use offers::{ByHand, Offer, Offers, offers};
pub use replay::{Frame, Problem, fork, replay, verify};
pub use runtime::{Config, Runtime, Settled, Start};
pub use snapshots::{GitSnapshots, NoSnapshots, Snapshots};
pub use undo::{CommitBack, History, TakeBackOrder, Undid, Write};
