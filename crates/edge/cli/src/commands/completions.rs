//! `interlock completions`: prints the completion script of a shell.

use super::Outcome;
use crate::{Exit, args::ShellName, complete, output::Output};

/// Prints the completion script of the given shell. The script asks this binary for candidates (`complete.rs`).
pub(crate) fn run(shell: ShellName, output: &Output) -> Outcome {
    output.data(&complete::script(shell.word())?)?;
    Ok(Exit::Good)
}
