//! What an attempt of `command.run` did.

use interlock_activity::report::{Account, ExecutedCommand, RunRecord, command_line, reading::text};

/// Returns the command with its result. The machine names the signal of a success.
pub(super) fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let success = ended.with["signals"]["zero"].as_str().unwrap_or("passed");
    let message = if ended.signal.is_some() { &ended.data["summary"] } else { &ended.data["message"] };
    let command = ExecutedCommand {
        command: command_line(&ended.with["command"])?,
        verifies: true,
        has_passed: ended.signal.as_deref() == Some(success),
        exit_code: ended.data["exit_code"].as_i64(),
        duration_ms: ended.data["duration_ms"].as_u64(),
        message: text(message),
        tree: ended.data["tree"].as_str().map(str::to_owned),
    };
    Some(Account { commands: vec![command], ..Account::default() })
}
