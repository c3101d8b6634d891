//! The answer of policy to a command that has not run yet, for tools that inspect a machine.

use std::path::Path;

use interlock_chart::Value;
use interlock_policy::{Command, Decision, Request, decide};

use super::{
    project::{read, root},
    sight::Sight,
};

/// Returns the reason why policy would not let a command run in a directory without asking, or `None` if it would. May
/// block.
pub fn foresee(command: &Value, folder: &Path) -> Option<String> {
    let (command, text) = match command {
        Value::Str(text) => (Command::Shell(text.to_string()), text.to_string()),
        Value::List(words) => {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let text = words.join(" ");
            (Command::Words(words), text)
        }
        _ => return None,
    };
    // An unusable policy is reported when a program is run.
    let policy = read(&root(folder)).ok()?;
    let sight = Sight::within(folder, None, text.contains("git")).kept();
    match decide(&Request::Command(command), &sight.view(), &policy) {
        Decision::Allow => None,
        Decision::Deny { reason, .. } => Some(format!("policy refuses it: {reason}")),
        Decision::Confirm { reason, .. } => Some(format!("a person is asked first: {reason}")),
    }
}
