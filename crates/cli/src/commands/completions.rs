//! `interlock completions`: prints the completion script of a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Outcome;
use crate::{Exit, args::Args, output::Output};

/// Prints the completion script of the given shell.
pub(crate) fn run(shell: Shell, output: &Output) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "interlock", &mut text);
    output.data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Good)
}
