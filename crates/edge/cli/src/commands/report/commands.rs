//! The commands that the activities of a run executed.

use interlock_activity::report::{ExecutedCommand, Part, RecordedRun, RunRecord, Worker};
use interlock_journal::Evidence;
use serde_json::{Value as Json, json};

/// A command with its result, as its activity accounts for it.
#[derive(Debug)]
pub(super) struct Executed {
    /// The record in which the command ended.
    pub(super) seq: u64,
    /// The state that invoked the command.
    pub(super) state: String,
    pub(super) command: ExecutedCommand,
    /// True if a coding agent executed it by itself.
    pub(super) is_of_agent: bool,
    pub(super) evidence: Vec<Evidence>,
}

/// Returns every command of a run, oldest first. Results that a person reported are not included.
pub(super) fn of(run: &RecordedRun) -> Vec<Executed> {
    run.records.iter().flat_map(executed).collect()
}

fn executed(record: &RunRecord) -> Vec<Executed> {
    let (Some(account), Some(activity)) = (&record.account, &record.activity) else { return Vec::new() };
    let one = |command: &ExecutedCommand| Executed {
        seq: record.seq,
        state: activity.state.clone(),
        command: command.clone(),
        is_of_agent: account.worker == Worker::Agent,
        evidence: record.entry.evidence().to_vec(),
    };
    account.commands.iter().map(one).collect()
}

/// Returns the commands as a table.
pub(super) fn table(commands: &[Executed]) -> Vec<Part> {
    let row = |one: &Executed| {
        let code = match one.command.exit_code {
            Some(code) => code.to_string(),
            None if one.command.has_passed => "passed".to_owned(),
            None => "did not pass".to_owned(),
        };
        let duration = one.command.duration_ms.map(|ms| format!("{:.2} s", ms as f64 / 1_000.0)).unwrap_or_default();
        let output = one.evidence.iter().filter(|file| file.bytes > 0 && ["stdout", "stderr"].contains(&&*file.name));
        let output: Vec<String> = output.map(|file| file.hash.to_string()).collect();
        let command = format!("`{}`{}", one.command.command, if one.is_of_agent { " (by the agent)" } else { "" });
        vec![one.seq.to_string(), one.state.clone(), command, code, duration, output.join(", ")]
    };
    let rows = commands.iter().map(row).collect();
    let shown = commands.iter().filter(|one| !one.command.shown.is_empty());
    let shown = shown.map(|one| vec![one.seq.to_string(), one.command.shown.clone()]).collect();
    let executed = Part::table(&["record", "state", "command", "exit code", "time", "output"], rows);
    executed.into_iter().chain(Part::table(&["record", "what the verification has shown"], shown)).collect()
}

/// Returns the commands as JSON.
pub(super) fn json(commands: &[Executed]) -> Json {
    let one = |one: &Executed| {
        json!({
            "seq": one.seq, "state": one.state, "command": one.command.command, "passed": one.command.has_passed,
            "exit_code": one.command.exit_code, "duration_ms": one.command.duration_ms,
            "verifies": one.command.is_check(), "objection": one.command.objection, "by_agent": one.is_of_agent,
            "shown": one.command.shown,
        })
    };
    commands.iter().map(one).collect()
}
