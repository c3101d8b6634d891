//! The account of an attempt of `command.run`.

use interlock_activity::report::{
    Account, Claim, ExecutedCommand, RunRecord, Worker, command_line,
    reading::{list, text, words},
};
use interlock_chart::counted;
use interlock_verification::reported;
use serde_json::{Value as Json, json};

use crate::project::NOTHING;

/// Commands that stand for a missing one: they cannot fail, so that they say nothing.
const ALWAYS_GREEN: [&str; 2] = [NOTHING, ":"];

/// Returns the command with its result. It is a check only if the machine says so with `verify`; any other command may be
/// the one that made the files. The machine names the signal of a success.
pub(super) fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let is_check = ended.with["verify"] == json!(true);
    let success = ended.with["signals"]["zero"].as_str().unwrap_or("passed");
    let message = if ended.signal.is_some() { &ended.data["summary"] } else { &ended.data["message"] };
    let exit_code = ended.data["exit_code"].as_i64();
    let line = command_line(&ended.with["command"])?;
    let claim = match is_check {
        _ if ALWAYS_GREEN.contains(&line.as_str()) => Claim::Nothing,
        true => Claim::Check,
        false => Claim::Step,
    };
    let command = ExecutedCommand {
        command: line,
        claim,
        // A check that passes and proves nothing has a signal of its own.
        has_passed: ended.signal.as_deref() == Some(success) || is_check && exit_code == Some(0),
        objection: objection(&ended.data),
        shortfall: shortfall(&ended.data),
        exit_code,
        duration_ms: ended.data["duration_ms"].as_u64(),
        message: text(message),
        tree: ended.data["tree"].as_str().map(str::to_owned),
        shown: ended.data["shown"].as_str().unwrap_or_default().to_owned(),
    };
    // A verification runs the command in several places; the outcome has the time of none of them.
    let worker = if is_check { Worker::Programs } else { Worker::Interlock };
    Some(Account { commands: vec![command], worker, ..Account::default() })
}

/// Returns the objections of a verification, or the failed tests that the output of a success reports.
fn objection(data: &Json) -> Option<String> {
    let objections: Vec<String> = list(&data["objections"]).filter_map(words).collect();
    match objections.is_empty() {
        false => Some(objections.join("; ")),
        true => words(&data["contradiction"]),
    }
}

/// Returns the warnings of a verification that passed, with the words of its summary.
fn shortfall(data: &Json) -> Option<String> {
    let codes: Vec<String> = list(&data["warnings"]).filter_map(words).collect();
    let is_short = data["verified"] == json!(true) && !codes.is_empty();
    is_short.then(|| words(&data["summary"]).unwrap_or_else(|| codes.join(", ")))
}

/// Returns the failed tests that the output of a program reports although its exit code is 0, such as that of a pipe whose
/// last program succeeds.
pub(super) fn contradiction(exit_code: i64, output: &str) -> Option<String> {
    let found = reported(output).filter(|found| exit_code == 0 && found.failed > 0)?;
    let passed = if found.passed > 0 { format!(" and {} passed", found.passed) } else { String::new() };
    let failed = counted(found.failed, "failed test", "failed tests");
    Some(format!("its output reports {failed}{passed}"))
}
