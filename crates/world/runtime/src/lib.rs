//! Runs: load, step, commit, dispatch.
//!
//! A run changes only through its inputs. Each input becomes a record; the record is durable before the runtime acts on
//! it; [`step`](interlock_core::step) decides the actions. After a crash the records are folded through the same
//! function again, and interrupted activities are handled by their effect class (`recover.rs`).
//!
//! The runtime knows the contract of activities and no particular activity: a [`Config`] supplies the registry.
//!
//! Start reading at `live.rs` (a run in memory, no I/O), then `actor.rs` (one task per running run), then `runtime.rs`.

mod actor;
mod admit;
mod asking;
mod attempts;
mod children;
mod clock;
mod commit;
mod consequences;
mod counters;
mod deadline;
mod dispatch;
mod error;
mod fixed;
mod grants;
mod history;
mod host;
mod live;
mod loaded;
mod moves;
mod name;
mod news;
mod offers;
mod open;
mod place;
mod project;
mod proof;
mod questions;
mod recorded;
mod recover;
mod recovery;
mod redaction;
mod replay;
mod request;
mod runtime;
mod saved;
mod schema;
mod seals;
mod shown;
mod snapshots;
mod undo;
mod verify;
mod views;

pub use admit::Refused;
pub use clock::{Clock, SystemClock};
pub use deadline::Fired;
pub use error::{Error, Result};
pub use fixed::fix_place;
pub use grants::{Grants, HeldGrant};
pub use interlock_workspace::{
    Change, Changes, Checkpoint, Comparison, Conflict, Moved, NotKept, Snapshot, Version, Workspace,
};
pub use live::{AttemptOrder, Beginning, Live, StartedActivity, Turn};
pub use loaded::LoadedMachine;
pub use moves::{Counted, EndedActivity, JudgeNote, Move, RefusedMove};
pub use name::{fresh_id, fresh_name};
pub use news::News;
pub use offers::{ByHand, Offer, Offers, OpenQuestion, offers};
pub use proof::{AnyMachine, Prover, created};
pub use replay::{Frame, NewFork, fork, replay};
pub use runtime::{Config, Runtime, Sent, Settled, Start};
pub use schema::Checked;
pub use shown::{GrantOffer, Question, ShownData};
pub use snapshots::{CutOff, GitSnapshots, NoSnapshots, Recovered, Snapshots, Untaken};
pub use undo::{CommitBack, History, NotKnown, TakeBackOrder, Undid, Write};
pub use verify::{Problem, verify};
pub use views::run_state;
