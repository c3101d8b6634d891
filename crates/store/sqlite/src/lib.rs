//! The embedded engine: runs in a SQLite file.
//!
//! [`Journal`] implements [`Engine`](interlock_journal::Engine) over one directory: the tables (`store/`), one writer per
//! process that commits many runs together (`writer.rs`), a lock per process that shows which owners are alive
//! (`liveness.rs`), and a check of the whole store (`audit.rs`).
//!
//! Records, entries and evidence are defined in `interlock-journal`. Only this crate and `interlock-knowledge` open SQLite.

mod audit;
pub mod database;
mod fault;
mod head_file;
mod journal;
mod liveness;
mod query;
mod store;
mod worker;
mod writer;

pub use audit::Audit;
pub(crate) use fault::Result;
pub use journal::{Journal, STORE_FILE, sqlite_version};
pub use query::{Cell, QueryLimits, Rows, View, query};
pub use worker::process_id;
pub use writer::OnCommit;
