//! What happened.
//!
//! A run is a list of [`Record`]s, each chained to the one before by its hash. A record is durable before anything is done
//! about it; what a run is now can always be computed again from its records, so nothing else needs to be believed.
//!
//! [`Engine`] is all that the runtime knows of durability: conditional append, reading, timers, messages, leases. [`Journal`]
//! is the engine that is always there: SQLite in a folder, one writer thread, many runs to a commit. `evidence.rs` keeps what
//! is too big for a record, once, by its hash.
//!
//! This is the only crate that opens SQLite.

mod audit;
mod definition;
mod engine;
mod entry;
mod error;
mod evidence;
mod gc;
mod head_file;
mod journal;
pub mod knowledge;
mod liveness;
pub mod moment;
pub mod private;
mod record;
mod store;
mod writer;

pub use audit::Audit;
pub use definition::Definition;
pub use engine::{
    Append, Claim, Engine, Filter, Head, Holder, Lease, Message, NewRun, Opened, Phase, Posted, RunKey, StoreHead,
    TimerChange, Work,
};
pub use entry::{By, Created, Entry, Evidence, Fork, GrantUsed, Granted, Left, Result as AttemptResult, Undone};
pub use error::{Error, Result};
pub use evidence::EvidenceStore;
pub use gc::{Collected, collect};
pub use journal::{Journal, Receipt, sqlite_version};
pub use record::{Hash, Record, Unchained};
pub use writer::OnCommit;
