//! The commands that the activities of a run executed.

use interlock_activity::report::{Part, RecordedRun, RunRecord, reading::text, shell_word};
use interlock_journal::{AttemptResult, Entry, Evidence};
use serde_json::{Value as Json, json};

/// A command with its result.
#[derive(Debug)]
pub(super) struct Executed {
    /// The record in which the command ended.
    pub(super) seq: u64,
    /// The state that invoked the command.
    pub(super) state: String,
    /// The command as a person would type it.
    pub(super) command: String,
    /// True if its exit code counts as a success.
    pub(super) has_passed: bool,
    /// The exit code; `None` if the command was stopped before it ended.
    pub(super) exit_code: Option<i64>,
    pub(super) duration_ms: Option<u64>,
    /// The last line of its output, or the error of the attempt.
    pub(super) message: String,
    /// The git tree of the directory after the command.
    pub(super) tree: Option<String>,
    pub(super) evidence: Vec<Evidence>,
}

/// Returns every command of a run, oldest first. Results that a person reported are not included.
pub(super) fn of(run: &RecordedRun) -> Vec<Executed> {
    run.records.iter().filter_map(executed).collect()
}

fn executed(record: &RunRecord) -> Option<Executed> {
    let Entry::Outcome { result, evidence, by: None, .. } = &record.entry else { return None };
    let activity = record.activity.as_ref()?;
    let with = Json::from(&activity.with);
    let command = command(&with["command"])?;
    let (signal, data) = match result {
        AttemptResult::Signal { name, data } => (Some(name.as_str()), Json::from(data)),
        AttemptResult::Error { data } => (None, Json::from(data)),
    };
    let success = with["signals"]["zero"].as_str().unwrap_or("passed");
    let message = if signal.is_some() { &data["summary"] } else { &data["message"] };
    Some(Executed {
        seq: record.seq,
        state: activity.state.clone(),
        command,
        has_passed: signal == Some(success),
        exit_code: data["exit_code"].as_i64(),
        duration_ms: data["duration_ms"].as_u64(),
        message: text(message),
        tree: data["tree"].as_str().map(str::to_owned),
        evidence: evidence.clone(),
    })
}

/// Formats a command: a string is a shell command, a list is a program with its arguments.
fn command(given: &Json) -> Option<String> {
    match given {
        Json::String(line) => Some(line.trim().to_owned()),
        Json::Array(words) => Some(words.iter().map(|word| shell_word(&text(word))).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

/// Returns the commands as a table.
pub(super) fn table(commands: &[Executed]) -> Vec<Part> {
    let row = |one: &Executed| {
        let code = one.exit_code.map_or("did not end".to_owned(), |code| code.to_string());
        let duration = one.duration_ms.map(|ms| format!("{:.2} s", ms as f64 / 1_000.0)).unwrap_or_default();
        let output = one.evidence.iter().filter(|file| file.bytes > 0 && ["stdout", "stderr"].contains(&&*file.name));
        let output: Vec<String> = output.map(|file| file.hash.to_string()).collect();
        vec![one.seq.to_string(), one.state.clone(), format!("`{}`", one.command), code, duration, output.join(", ")]
    };
    let rows = commands.iter().map(row).collect();
    Part::table(&["record", "state", "command", "exit code", "time", "output"], rows).into_iter().collect()
}

/// Returns the commands as JSON.
pub(super) fn json(commands: &[Executed]) -> Json {
    let one = |one: &Executed| {
        json!({
            "seq": one.seq, "state": one.state, "command": one.command, "passed": one.has_passed,
            "exit_code": one.exit_code, "duration_ms": one.duration_ms,
        })
    };
    commands.iter().map(one).collect()
}
