//! The account of an attempt of `verify.run`.

use interlock_activity::report::{
    Account, Claim, ExecutedCommand, RunRecord, Worker,
    reading::{list, words},
};

/// Returns the commands with their results. They verify the turn unless the attempt says that they do not count.
pub(crate) fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let claim = match ended.signal.as_deref() {
        Some("verify_pass" | "verify_fail") => Claim::Check,
        _ => Claim::Nothing,
    };
    let commands = list(&ended.data["commands"]).filter_map(|item| ExecutedCommand::listed(item, claim)).collect();
    let doubt = words(&ended.data["reason"]).filter(|_| ended.signal.as_deref() == Some("verify_none"));
    Some(Account { commands, doubt, worker: Worker::Programs, ..Account::default() })
}
