//! Arguments of the commands about runs.

use std::path::PathBuf;

use clap::ValueEnum;
use interlock_journal::Phase;

use crate::complete;

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The name or the path of a machine
    #[arg(value_name = "M", add = complete::machines())]
    pub(crate) machine: String,
    /// The run's input: a JSON or YAML file, - for stdin
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Set one field of the input; a dotted name sets a nested field; a value that is not JSON is text
    #[arg(short, long = "set", value_name = "K=V")]
    pub(crate) set: Vec<String>,
    /// The directory that the run works in [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// The run's name [default: the machine's name and random letters]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Give the run its own git worktree, on the branch interlock/NAME
    #[arg(long)]
    pub(crate) worktree: bool,
    /// Work in the directory itself, even if the machine asks for a worktree
    #[arg(long, conflicts_with = "worktree")]
    pub(crate) in_place: bool,
    /// Run the machine even if `check` refuses it; this is recorded in the run and its report
    #[arg(long)]
    pub(crate) unproved: bool,
    /// The coding agent of `agents.toml` that the run prompts [default: the one under [default]]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// The arguments of `runs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// Only runs of this machine
    #[arg(long, value_name = "M", add = complete::machines())]
    pub(crate) machine: Option<String>,
    /// Only runs in one of these phases
    #[arg(long, value_name = "P", value_enum, value_delimiter = ',')]
    pub(crate) phase: Vec<PhaseName>,
    /// The maximum number of runs, newest first
    #[arg(short, value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,
    /// List all runs
    #[arg(long, conflicts_with = "number")]
    pub(crate) all: bool,
}

/// The phases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum PhaseName {
    Active,
    Waiting,
    Paused,
    Succeeded,
    Incomplete,
    Failed,
    Aborted,
}

impl std::convert::From<PhaseName> for Phase {
    fn from(name: PhaseName) -> Self {
        match name {
            PhaseName::Active => Phase::Active,
            PhaseName::Waiting => Phase::Waiting,
            PhaseName::Paused => Phase::Paused,
            PhaseName::Succeeded => Phase::Succeeded,
            PhaseName::Incomplete => Phase::Incomplete,
            PhaseName::Failed => Phase::Failed,
            PhaseName::Aborted => Phase::Aborted,
        }
    }
}

/// The argument of the commands that take only a run.
#[derive(Debug, clap::Args)]
pub(crate) struct OneRun {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
}

/// The arguments of `report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// The format [default: by the file's extension (.md, .html, .json), else Markdown]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// The file to write instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A Markdown document
    Md,
    /// JSON for programs
    Json,
    /// One HTML page that includes the machine's picture
    Html,
}

/// The arguments of `send`.
#[derive(Debug, clap::Args)]
pub(crate) struct Send {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// The name of the event
    #[arg(value_name = "EVENT")]
    pub(crate) event: String,
    /// The event's data: JSON, or @ and a JSON or YAML file (@- for stdin)
    #[arg(short, long, value_name = "JSON|@FILE")]
    pub(crate) data: Option<String>,
    /// The id of this event: an event with the same id is recorded only once [default: a random id]
    #[arg(long, value_name = "ID", value_parser = sent_id)]
    pub(crate) id: Option<String>,
    /// Exit as soon as the event is handled and the activities that it started have ended
    #[arg(long)]
    pub(crate) no_follow: bool,
}

/// The arguments of `abort`.
#[derive(Debug, clap::Args)]
pub(crate) struct Abort {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// The event's data: JSON, or @ and a JSON or YAML file (@- for stdin)
    #[arg(short, long, value_name = "JSON|@FILE")]
    pub(crate) data: Option<String>,
}

/// The arguments of `resume`.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// The run; without one, every active or due run that no process is running
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: Option<String>,
    /// Fire the due timers of runs that no process is running, and continue those runs; for cron
    #[arg(long, conflicts_with = "run")]
    pub(crate) due: bool,
}

/// The arguments of `context`.
#[derive(Debug, clap::Args)]
pub(crate) struct Context {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R")]
    pub(crate) run: String,
    #[command(subcommand)]
    pub(crate) action: Option<ContextAction>,
}

/// The changes that `context` makes.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ContextAction {
    /// Change the status of a task
    #[command(name = "update_progress")]
    UpdateProgress {
        /// The id of the task
        #[arg(value_name = "TASK")]
        task: String,
        /// The new status
        #[arg(value_name = "STATUS", ignore_case = true, value_parser = ["PENDING", "DONE", "BLOCKED"])]
        status: String,
        /// The reason in one line
        #[arg(value_name = "SUMMARY")]
        summary: Option<String>,
    },
}

/// The arguments of `grant`.
#[derive(Debug, clap::Args)]
pub(crate) struct Grant {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs(), required_unless_present_any = ["list", "revoke"])]
    pub(crate) run: Option<String>,
    /// The permission and its object
    #[arg(value_name = "SCOPE", required_unless_present_any = ["list", "revoke"])]
    pub(crate) scopes: Vec<String>,
    /// List the permissions that were granted for a workspace
    #[arg(long, conflicts_with_all = ["run", "for_ms", "uses", "only", "revoke"])]
    pub(crate) list: bool,
    /// Revoke a permission that was granted for a workspace, by its id; can be repeated
    #[arg(long, value_name = "ID", conflicts_with_all = ["run", "for_ms", "uses", "only"])]
    pub(crate) revoke: Vec<String>,
    /// The duration for which it is valid: 30s, 10m, 1h, 2d
    #[arg(long = "for", value_name = "TIME", value_parser = milliseconds)]
    pub(crate) for_ms: Option<u64>,
    /// The number of times it may be used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) uses: Option<u32>,
    /// Only grant: do not continue the run, even if it waits for these permissions
    #[arg(long)]
    pub(crate) only: bool,
}

/// Checks an id that a sender chooses.
fn sent_id(text: &str) -> Result<String, String> {
    const LENGTH_MAX: usize = 200;
    let is_plain = !text.is_empty() && text.len() <= LENGTH_MAX && text.chars().all(|letter| letter.is_ascii_graphic());
    match is_plain {
        true => Ok(text.to_owned()),
        false => Err(format!("an id is 1 to {LENGTH_MAX} printable ASCII characters without spaces")),
    }
}

/// Parses a duration such as `30s`, `10m`, `1h` or `2d`.
fn milliseconds(text: &str) -> Result<u64, String> {
    let letters = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let unit: u64 = match letters {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err("a time is a number and a unit: 30s, 10m, 1h or 2d".to_owned()),
    };
    let number: Option<u64> = text[..text.len() - letters.len()].parse().ok();
    let ms = number.and_then(|number| number.checked_mul(unit)).filter(|ms| *ms > 0);
    ms.ok_or_else(|| "the number must be a whole number from 1, and the time must not be too long".to_owned())
}

/// The arguments of `replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Replay {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// The record to stop after [default: the last record]
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<u64>,
}

/// The arguments of `fork`.
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// The last record that both runs share
    #[arg(long, value_name = "N")]
    pub(crate) at: u64,
    /// The new run's name [default: the machine's name and random letters]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Fork the run even if `check` refuses its machine; this is recorded in the new run and its report
    #[arg(long)]
    pub(crate) unproved: bool,
}

/// The arguments of `undo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Undo {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// Undo the writes after this record
    #[arg(long, value_name = "SEQ", group = "choice")]
    pub(crate) to: Option<u64>,
    /// Undo the writes of this record
    #[arg(long, value_name = "SEQ", group = "choice")]
    pub(crate) write: Option<u64>,
    /// Undo the writes of one activity, by its id in `trace --json`
    #[arg(long, value_name = "ID", group = "choice")]
    pub(crate) activity: Option<String>,
    /// Undo the writes during the last visit to this state
    #[arg(long, value_name = "STATE", group = "choice")]
    pub(crate) state: Option<String>,
    /// Undo only this path and the paths below it, relative to the root of the workspace
    #[arg(long, value_name = "P")]
    pub(crate) path: Vec<PathBuf>,
    /// Only show the writes that would be undone
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip paths that were changed after the run wrote them, and undo the rest
    #[arg(long)]
    pub(crate) skip_conflicts: bool,
}

/// The arguments of `diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// Only the patch of this file, by its path as the list has it
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Only the list of files
    #[arg(long, conflicts_with = "path")]
    pub(crate) stat: bool,
}

/// The arguments of `snapshots`.
#[derive(Debug, clap::Args)]
pub(crate) struct Snapshots {
    /// The run's name, or a prefix that no other run's name has
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) run: String,
    /// A snapshot, by its number or by the name of its checkpoint; without one, all snapshots are listed
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) snapshot: Option<String>,
    /// Copy it into this directory, which must be empty or must not exist
    #[arg(long, value_name = "DIR", requires = "snapshot")]
    pub(crate) into: Option<PathBuf>,
    /// Show the patch from the snapshot to this other snapshot
    #[arg(long, value_name = "OTHER", requires = "snapshot", conflicts_with = "into")]
    pub(crate) diff: Option<String>,
}

/// The arguments of `verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// The runs [default: all runs]
    #[arg(value_name = "R", add = complete::runs())]
    pub(crate) runs: Vec<String>,
    /// A file with anchors, one per line, that the store must match
    #[arg(long, value_name = "FILE")]
    pub(crate) anchor: Option<PathBuf>,
    /// The public key of the anchors' signatures, in hex [default: the public part of the user's key]
    #[arg(long, value_name = "HEX", requires = "anchor")]
    pub(crate) public_key: Option<String>,
    /// The file of the user's key
    #[arg(long, value_name = "FILE", requires = "anchor", conflicts_with = "public_key")]
    pub(crate) key: Option<PathBuf>,
}

/// The arguments of `anchor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Anchor {
    /// The file of the key [default: ~/.config/interlock/anchor.key]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Print the public key instead, to check anchors on another computer
    #[arg(long)]
    pub(crate) public_key: bool,
}

/// The arguments of `gc`.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Only show the files that would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep files that are younger than this: they may belong to a record that is about to be written
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub(crate) older_than: u64,
    /// Remove the snapshots of runs that ended longer ago than this; their writes can then no longer be undone
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) snapshots_older_than: u64,
}

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The name of a built-in machine
    #[arg(value_name = "M", add = complete::builtin_machines())]
    pub(crate) machine: String,
    /// Overwrite a machine of the project, or a task
    #[arg(long)]
    pub(crate) force: bool,
    /// Instead of the machine, write a task for this project from its build files (firmware: Makefile, CMake, PlatformIO
    /// or west)
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "task.yaml")]
    pub(crate) task: Option<std::path::PathBuf>,
}

/// The arguments of `evidence`.
#[derive(Debug, clap::Args)]
pub(crate) struct Evidence {
    /// A run, to list its files; or a file's hash or a prefix of it, to print the file
    #[arg(value_name = "R|HASH", add = complete::runs())]
    pub(crate) what: String,
    /// Print the run's file of this name; the last one if several records have such a file
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the file of this record
    #[arg(long, value_name = "SEQ", requires = "name")]
    pub(crate) record: Option<u64>,
}

/// The arguments of `sql`.
#[derive(Debug, clap::Args)]
pub(crate) struct Sql {
    /// The query, such as "select * from brain_sessions"
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// The most rows to print
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) rows: usize,
    /// The most seconds that the query may take
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) seconds: u64,
}

/// The arguments of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The command, such as `run` or `kb search` [default: the page of the program]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}
