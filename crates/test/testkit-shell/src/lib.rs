//! A second opinion on shell text: the commands that the grammar tree-sitter-bash finds, compared with the programs that
//! `interlock-shell-effects` reports.
//!
//! Only the structure is compared: the reader must find a command inside a loop, a substitution or a list if it finds the
//! same command alone. Its rules for single programs are not compared, because the grammar knows none. Tests of the
//! reader and its fuzz target use this crate; it is a dev-dependency only.

mod grammar;
mod programs;

use std::collections::BTreeSet;

pub use grammar::{Bash, Commands};
pub use programs::{Programs, programs};

/// The programs that the grammar finds in a text and the reader misses. `None` if the grammar does not accept the text.
///
/// Nothing is missed in a text that the reader calls unclear, because a person is asked about it.
pub fn missed(bash: &mut Bash, text: &str) -> Option<BTreeSet<String>> {
    let commands = bash.commands(text)?;
    let ours = programs(text);
    if ours.is_unclear {
        return Some(BTreeSet::new());
    }
    let is_missed = |command: &&grammar::Command| {
        !ours.names.contains(&command.name)
            && !commands.functions.contains(&command.name)
            && programs(&command.text).names.contains(&command.name)
    };
    Some(commands.list.iter().filter(is_missed).map(|command| command.name.clone()).collect())
}
