//! The account of an attempt of `project.verify`.

use interlock_activity::report::{
    Account, Claim, ExecutedCommand, RunRecord, Worker,
    reading::{list, text, words},
};
use serde_json::Value as Json;

use super::{FAILED, FAULT, PASSED, UNPROVED};

/// Returns the commands with their results: all passed, or those before the one that failed. A fault of the environment
/// verifies nothing, and neither does a green check that proves nothing.
pub(super) fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let signal = ended.signal.as_deref()?;
    if signal == FAULT || UNPROVED.contains(&signal) {
        let doubt = words(&ended.data["summary"]);
        return Some(Account { doubt, worker: Worker::Programs, ..Account::default() });
    }
    let is = |names: &[&str]| names.contains(&signal);
    if !is(&PASSED) && !is(&FAILED) {
        return Some(Account::default());
    }
    let failed = words(&ended.data["command"]).filter(|_| is(&FAILED));
    let mut commands: Vec<ExecutedCommand> = Vec::new();
    for line in lines(&ended.with) {
        let is_failed = failed.as_ref() == Some(&line);
        commands.push(ExecutedCommand {
            command: line,
            claim: Claim::Check,
            has_passed: !is_failed,
            exit_code: if is_failed { ended.data["exit_code"].as_i64() } else { Some(0) },
            message: if is_failed { text(&ended.data["summary"]) } else { String::new() },
            shortfall: words(&ended.data["shortfall"]).filter(|_| !is_failed),
            shown: ended.data["shown"].as_str().unwrap_or_default().to_owned(),
            ..ExecutedCommand::default()
        });
        if is_failed {
            break;
        }
    }
    Some(Account { commands, worker: Worker::Programs, ..Account::default() })
}

/// Returns the command lines in the order of execution: those of the project, then those of the task.
fn lines(with: &Json) -> Vec<String> {
    let own = list(&with["commands"]).filter_map(|command| words(&command["command"]));
    let mut lines: Vec<String> = Vec::new();
    for line in own.chain(list(&with["task"]["commands"]).filter_map(words)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
