//! Arguments of the commands about the coding agent.

use std::path::PathBuf;

use crate::complete;

/// The arguments of `coder`.
#[derive(Debug, clap::Args)]
pub(crate) struct Coder {
    /// The first message; without it, a terminal asks
    #[arg(value_name = "GOAL", conflicts_with = "resume")]
    pub(crate) goal: Option<String>,
    /// The model that answers: the name of a judge in judges.toml [default: the configured chain]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Only answer questions: write no file and run no command
    #[arg(long, conflicts_with_all = ["plan", "resume"])]
    pub(crate) ask: bool,
    /// Make a plan and do not carry it out
    #[arg(long, conflicts_with = "resume")]
    pub(crate) plan: bool,
    /// Work in a git worktree of its own, on the branch interlock/NAME
    #[arg(long, conflicts_with = "resume")]
    pub(crate) worktree: bool,
    /// The directory to work in [default: the current directory]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) repo: Option<PathBuf>,
    /// The name of the run [default: coder and random letters]
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,
    /// Play one turn and end, as without a terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Continue the conversation of this run
    #[arg(long, value_name = "R", add = complete::runs())]
    pub(crate) resume: Option<String>,
}
