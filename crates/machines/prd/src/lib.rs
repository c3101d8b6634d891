//! The activities of the machine `prd`, and the file that shows one of its runs.
//!
//! A product requirement document (PRD) is Markdown (`document.rs`). `prd.check` reads its tasks once; from then on the
//! queue lives in the run's context, and the boxes of the file mean nothing. `prd.seal` commits the document that a person
//! confirmed, `tasks.next` and `tasks.mark` work on the queue, `project.verify` runs the commands that decide, and
//! `prd.archive` moves the finished document. `view.rs` renders a run as `active_context.md`, and `view_file.rs` writes it.
//!
//! The crate knows no runtime and no policy: the binary puts `project.verify` behind its gate.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod archive;
mod check;
mod committing;
mod document;
mod seal;
mod tasks;
mod verify;
mod view;
mod view_file;

pub use archive::PrdArchive;
pub use check::PrdCheck;
pub use document::{Document, Problem, parse};
pub use seal::PrdSeal;
pub use tasks::{Mark, Status, Task, TasksMark, TasksNext};
pub use verify::ProjectVerify;
pub use view::{ACTIVE_CONTEXT, MACHINE, Shown, View};
pub use view_file::{HandEdit, ViewFile};

use interlock_activity::{Attempt, Ending, Outcome, code};
use interlock_chart::Value;
use serde::Serialize;

/// The longest document that is read.
const DOCUMENT_BYTES_MAX: u64 = 256 * 1024;

/// Runs work that may block on a thread for blocking work.
fn begin(attempt: Attempt, work: impl FnOnce(&Attempt) -> Result<Outcome, Outcome> + Send + 'static) -> Ending {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(move || work(&attempt).unwrap_or_else(|error| error));
        done.await.unwrap_or_else(|error| Outcome::error(code::FAILED, error.to_string()))
    })
}

/// Converts serializable data to a value.
fn value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).map_or(Value::Null, Value::from)
}

/// Reads a document of the project.
fn read_document(attempt: &Attempt, path: &str) -> Result<String, String> {
    let text = interlock_beneath::read_text(&attempt.folder, path.as_ref(), DOCUMENT_BYTES_MAX);
    text.map_err(|error| error.to_string())?.ok_or_else(|| format!("{path} does not exist"))
}

/// Returns the SHA-256 of a text as hexadecimal digits.
fn hash(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
