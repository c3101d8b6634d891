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
    /// Give the goal to these models side by side, each in a git worktree of its own, and compare the results. Nobody is
    /// asked: plain writes and confined commands are allowed, everything else is refused
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', requires = "goal",
          conflicts_with_all = ["model", "resume", "once"])]
    pub(crate) compare: Vec<String>,
    /// Ask nobody: allow plain writes and confined commands, and refuse everything that needs a person
    #[arg(long, conflicts_with = "resume")]
    pub(crate) unattended: bool,
    /// Waive the verification: a change is completed without it, and the end says so
    #[arg(long, conflicts_with = "resume")]
    pub(crate) no_verify: bool,
    /// Let commands use the network, each after you have confirmed it
    #[arg(long, conflicts_with = "resume")]
    pub(crate) network: bool,
    /// Let commands reach this host and no other, after you have confirmed it, such as registry.example.com:443; can be
    /// repeated
    #[arg(long = "host", value_name = "HOST", conflicts_with_all = ["resume", "network"])]
    pub(crate) hosts: Vec<String>,
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
