//! What an attempt of `verify.run` did.

use interlock_activity::report::{
    Account, ExecutedCommand, RunRecord,
    reading::{list, words},
};

/// Returns the commands with their results. They verify the turn unless the attempt says that they do not count.
pub(crate) fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let counts = matches!(ended.signal.as_deref(), Some("verify_pass" | "verify_fail"));
    let commands = list(&ended.data["commands"]).filter_map(|item| ExecutedCommand::listed(item, counts)).collect();
    let doubt = words(&ended.data["reason"]).filter(|_| ended.signal.as_deref() == Some("verify_none"));
    Some(Account { commands, doubt, ..Account::default() })
}
