//! The commands by purpose, as `--help` lists them.

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Args;
use crate::width;

/// The purposes, each with its commands. A test compares them with the parser; the READMEs and the reference list them.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Write",
        &[
            "machines",
            "describe",
            "new",
            "init",
            "check",
            "test",
            "draw",
            "import",
            "conform",
            "schema",
            "activities",
            "explain",
        ],
    ),
    ("Run", &["run", "coder", "resume", "pause", "abort", "watch"]),
    (
        "Look",
        &[
            "runs",
            "show",
            "trace",
            "diff",
            "report",
            "evidence",
            "snapshots",
            "replay",
            "verify",
            "anchor",
            "sql",
            "resources",
            "kb",
            "map",
        ],
    ),
    ("Act", &["send", "grant", "context", "undo", "apply", "fork"]),
    ("Serve", &["serve", "token", "mcp", "acp", "notebook-server"]),
    ("Set up", &["doctor", "agents", "gc", "completions", "man", "help"]),
];

/// The widest help text, as for the commands.
const WIDTH_MAX: usize = 110;

impl Args {
    /// Reads the arguments of a call.
    pub(crate) fn read(arguments: Vec<std::ffi::OsString>) -> Result<Self, clap::Error> {
        let command = Args::command();
        let groups = groups(&command, width::columns().min(WIDTH_MAX));
        let template = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
        );
        let matches = command.help_template(template).try_get_matches_from(arguments)?;
        Args::from_arg_matches(&matches)
    }
}

/// Returns the list of commands under the headings of their groups.
fn groups(command: &Command, width: usize) -> String {
    let mut command = command.clone();
    command.build();
    let indent = command.get_subcommands().map(|known| known.get_name().len()).max().unwrap_or(0) + 4;
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        for known in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = known.get_about().map(ToString::to_string).unwrap_or_default();
            let lines = wrapped(&about, width.saturating_sub(indent)).join(&format!("\n{:indent$}", ""));
            text.push_str(&format!("  {:<1$}{lines}\n", known.get_name(), indent - 2));
        }
        text.push('\n');
    }
    text
}

/// Breaks a text into lines of at most this many characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Args::command();
        command.build();
        let known: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(grouped.len(), known.len(), "a command is in two groups");
    }
}
