//! `interlock pause`: pauses a run.

use interlock_journal::Engine as _;
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    drive::{block_on, let_go},
    output::Output,
    store::{Store, user},
};

/// Pauses a run and reports the record.
pub(crate) fn run(run: &str, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(run)?;
    let seq = block_on(async {
        let runtime = store.runtime()?;
        let seq = runtime.pause(&head, user()).await?;
        if store.journal.holder(head.key)?.is_none_or(|holder| holder.worker == store.journal.worker()) {
            let_go(&runtime, &head).await?;
        }
        Ok(seq)
    })?;
    match output.is_json() {
        true => output.json(&json!({ "run": head.name, "phase": "paused", "seq": seq }))?,
        false => output.data(&format!("{}  paused  record {seq}\n", head.name))?,
    }
    Ok(Exit::Good)
}
