//! The answer of policy to a command that has not run yet, for whoever looks at a machine.

use std::path::Path;

use interlock_chart::Value;
use interlock_policy::{Command, Decision, Request, decide};

use super::{
    project::{read, root},
    sight::Sight,
};

/// The reason for which policy would not let a command run by itself in a folder; nothing if it would. May block.
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
    // A policy that cannot be used is told by whoever runs something.
    let policy = read(&root(folder)).ok()?;
    let sight = Sight::within(folder, None, text.contains("git")).kept();
    match decide(&Request::Command(command), &sight.view(), &policy) {
        Decision::Allow => None,
        Decision::Deny { reason, .. } => Some(format!("policy refuses it: {reason}")),
        Decision::Confirm { reason, .. } => Some(format!("a person is asked first: {reason}")),
    }
}
