//! What a turn of a coding agent did. Its whole time is the agent's, and its commands verify nothing: only Interlock's
//! own checks do.

use interlock_activity::report::{
    Account, ExecutedCommand, RunRecord, Worker,
    reading::{list, text, words},
};
use interlock_journal::EvidenceStore;
use serde_json::Value as Json;

/// The size of the largest turn that is read.
const BYTES_MAX: u64 = 16 * 1_024 * 1_024;

/// Returns the commands that the agent reported.
pub(crate) fn account(record: &RunRecord, evidence: &EvidenceStore) -> Account {
    let turn = record.entry.evidence().iter().find(|file| file.name == "agent-turn" && file.bytes <= BYTES_MAX);
    let turn = turn.and_then(|file| evidence.get(&file.hash).ok());
    let turn: Json = turn.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let command = |call: &Json| {
        let output = text(&call["output"]);
        Some(ExecutedCommand {
            command: words(&call["command"])?,
            has_passed: call["is_ok"] == true,
            exit_code: call["exit_code"].as_i64(),
            message: output.lines().last().unwrap_or_default().to_owned(),
            ..ExecutedCommand::default()
        })
    };
    let commands = list(&turn["tool_calls"]).filter_map(command).collect();
    Account { commands, worker: Worker::Agent, ..Account::default() }
}
