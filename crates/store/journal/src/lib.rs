//! The records of runs: the facts from which the state of a run is computed.
//!
//! A run is a list of [`Record`]s, each chained to the one before by its hash. A record is durable before anything is
//! done about it. The state of a run can always be computed again from its records, so no other data has to be trusted.
//!
//! [`Engine`] is all that the runtime knows of durability: conditional append, reading, timers, messages, leases. This
//! crate knows no database: `interlock-sqlite` is the embedded engine. `evidence.rs` stores content that is too big for
//! a record, once, by its hash.

mod definition;
mod engine;
mod entry;
mod error;
mod evidence;
mod evidence_folder;
mod gc;
pub mod moment;
pub mod private;
mod question;
mod receipt;
mod record;

pub use definition::Definition;
pub use engine::{
    Append, Change, Claim, Engine, Filter, Head, Holder, Lease, Message, NewRun, Opened, Phase, Posted, RunKey,
    StoreHead, TimerChange, Work, WorkerName,
};
pub use entry::{
    By, Created, Entry, Evidence, Fork, GrantUsed, Granted, Left, MadeWith, Result as AttemptResult, Undone,
    WorkspacePlace,
};
pub use error::{Error, Result, Trouble};
pub use evidence::{Blobs, EvidenceStore};
pub use gc::Collected;
pub use question::{Asked, Unanswered};
pub use receipt::Receipt;
pub use record::{Hash, Record, Unchained};
