//! What an attempt of `tool.call` did: the command of a call that runs one. It verifies nothing, because the model chose it.

use interlock_activity::report::{
    Account, ExecutedCommand, RunRecord,
    reading::{list, text, words},
};
use serde_json::Value as Json;

/// Returns the commands of the calls.
pub(crate) fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let results: Vec<&Json> = list(&ended.data["payload"]["results"]).chain(std::iter::once(&ended.data)).collect();
    let calls = list(&ended.with["calls"]).chain(std::iter::once(&ended.with["call"]));
    let commands = calls.filter_map(|call| {
        let line = words(&call["args"]["command"])?;
        let is_meant =
            |result: &&&Json| result["name"] == call["name"] && result["tool_call_id"] == call["tool_call_id"];
        let result = results.iter().find(is_meant).copied().unwrap_or(&ended.data);
        Some(executed(line, &result["payload"]))
    });
    Some(Account { commands: commands.collect(), ..Account::default() })
}

fn executed(command: String, payload: &Json) -> ExecutedCommand {
    let exit_code = payload["exit_code"].as_i64();
    let said = [&payload["error"]["message"], &payload["stderr"], &payload["stdout"]];
    let said = said.into_iter().map(text).find(|text| !text.trim().is_empty()).unwrap_or_default();
    ExecutedCommand {
        command,
        has_passed: exit_code == Some(0),
        exit_code,
        duration_ms: payload["duration_ms"].as_u64(),
        message: said.lines().last().unwrap_or_default().to_owned(),
        ..ExecutedCommand::default()
    }
}
