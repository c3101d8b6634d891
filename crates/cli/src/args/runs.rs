//! Arguments of the commands that are about runs.

use std::path::PathBuf;

use clap::ValueEnum;
use interlock_journal::Phase;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// A name or a path
    #[arg(value_name = "M")]
    pub(crate) machine: String,
    /// What the run is given: a JSON or YAML file, - for stdin
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// One field of what it is given; a dotted name reaches inside, the value is JSON or else text
    #[arg(short, long = "set", value_name = "K=V")]
    pub(crate) set: Vec<String>,
    /// The folder it works in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// What to call it [default: the machine's name and some letters]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Run the machine even if `check` refuses it; the run and its report say so
    #[arg(long)]
    pub(crate) unproved: bool,
}

/// Arguments of `runs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// Only runs of this machine
    #[arg(long, value_name = "M")]
    pub(crate) machine: Option<String>,
    /// Only runs in one of these phases
    #[arg(long, value_name = "P", value_enum, value_delimiter = ',')]
    pub(crate) phase: Vec<PhaseName>,
    /// At most so many, newest first
    #[arg(short, value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,
    /// All of them
    #[arg(long, conflicts_with = "number")]
    pub(crate) all: bool,
}

/// Where a run stands as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum PhaseName {
    Active,
    Waiting,
    Paused,
    Succeeded,
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
            PhaseName::Failed => Phase::Failed,
            PhaseName::Aborted => Phase::Aborted,
        }
    }
}

/// A run.
#[derive(Debug, clap::Args)]
pub(crate) struct OneRun {
    /// The run's name, or as much of its beginning as is unlike any other's
    #[arg(value_name = "R")]
    pub(crate) run: String,
}

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// What to write [default: what the file's name says (.md, .html, .json), else Markdown]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Where to write it, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// What a report can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown
    Md,
    /// JSON
    Json,
    /// One page with the machine's picture in it
    Html,
}

/// Arguments of `send`.
#[derive(Debug, clap::Args)]
pub(crate) struct Send {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// The event
    #[arg(value_name = "EVENT")]
    pub(crate) event: String,
    /// What the event carries: JSON, or @ and the JSON or YAML file it is in (@- for stdin)
    #[arg(short, long, value_name = "JSON|@FILE")]
    pub(crate) data: Option<String>,
    /// Names this sending: with the same id it is recorded once, however often it is sent [default: a random one]
    #[arg(long, value_name = "ID", value_parser = sent_id)]
    pub(crate) id: Option<String>,
    /// Leave as soon as the event is taken and what it set off has ended
    #[arg(long)]
    pub(crate) no_follow: bool,
}

/// Arguments of `abort`.
#[derive(Debug, clap::Args)]
pub(crate) struct Abort {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// What the event carries: JSON, or @ and the JSON or YAML file it is in (@- for stdin)
    #[arg(short, long, value_name = "JSON|@FILE")]
    pub(crate) data: Option<String>,
}

/// Arguments of `resume`.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// The run; without one, every run that needs somebody
    #[arg(value_name = "R")]
    pub(crate) run: Option<String>,
    /// Fire the timers that are due in runs that no process moves, and move those runs on; for cron
    #[arg(long, conflicts_with = "run")]
    pub(crate) due: bool,
}

/// Arguments of `grant`.
#[derive(Debug, clap::Args)]
pub(crate) struct Grant {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// What is permitted, and for what
    #[arg(value_name = "SCOPE", required = true)]
    pub(crate) scopes: Vec<String>,
    /// How long it counts: 30s, 10m, 1h, 2d
    #[arg(long = "for", value_name = "TIME", value_parser = milliseconds)]
    pub(crate) for_ms: Option<u64>,
    /// How often it may be used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) uses: Option<u32>,
    /// Leave the run where it is, even if it waits for these permissions
    #[arg(long)]
    pub(crate) only: bool,
}

/// An id that a sender chooses.
fn sent_id(text: &str) -> Result<String, String> {
    const LENGTH_MAX: usize = 200;
    let is_plain = !text.is_empty() && text.len() <= LENGTH_MAX && text.chars().all(|letter| letter.is_ascii_graphic());
    match is_plain {
        true => Ok(text.to_owned()),
        false => Err(format!("an id is 1 to {LENGTH_MAX} printable ASCII characters without spaces")),
    }
}

/// A time as people write it.
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
    ms.ok_or_else(|| "it is to be a whole number from 1 on, and not too long".to_owned())
}

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Replay {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// The record to stop after [default: the last]
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<u64>,
}

/// Arguments of `fork`.
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// The last record that both share
    #[arg(long, value_name = "N")]
    pub(crate) at: u64,
    /// What to call the new run [default: the machine's name and some letters]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Fork the run even if `check` refuses its machine; the new run and its report say so
    #[arg(long)]
    pub(crate) unproved: bool,
}

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Undo {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// What was written after this record
    #[arg(long, value_name = "SEQ", group = "choice")]
    pub(crate) to: Option<u64>,
    /// What this record wrote
    #[arg(long, value_name = "SEQ", group = "choice")]
    pub(crate) write: Option<u64>,
    /// What this start of an activity wrote
    #[arg(long, value_name = "ID", group = "choice")]
    pub(crate) activity: Option<String>,
    /// What was written during the last visit to this state
    #[arg(long, value_name = "STATE", group = "choice")]
    pub(crate) state: Option<String>,
    /// Only this path and what is below it, from the root of the workspace
    #[arg(long, value_name = "P")]
    pub(crate) path: Vec<PathBuf>,
    /// Only say what would be taken back
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave alone what somebody else has changed since, and take back the rest
    #[arg(long)]
    pub(crate) skip_conflicts: bool,
}

/// Arguments of `snapshots`.
#[derive(Debug, clap::Args)]
pub(crate) struct Snapshots {
    /// The run
    #[arg(value_name = "R")]
    pub(crate) run: String,
    /// A snapshot, by its number or by the name of its checkpoint; without one, all are listed
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) snapshot: Option<String>,
    /// Copy it into this folder, which must be empty or not there
    #[arg(long, value_name = "DIR", requires = "snapshot")]
    pub(crate) into: Option<PathBuf>,
    /// Show the patch that makes this other snapshot of it
    #[arg(long, value_name = "OTHER", requires = "snapshot", conflicts_with = "into")]
    pub(crate) diff: Option<String>,
}

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Runs; without any, all of them
    #[arg(value_name = "R")]
    pub(crate) runs: Vec<String>,
    /// A file with anchors, one to a line, that the store must still fit
    #[arg(long, value_name = "FILE")]
    pub(crate) anchor: Option<PathBuf>,
    /// The key that they must be signed with, in hex [default: the public part of the user's own key]
    #[arg(long, value_name = "HEX", requires = "anchor")]
    pub(crate) public_key: Option<String>,
    /// The file of the user's own key
    #[arg(long, value_name = "FILE", requires = "anchor", conflicts_with = "public_key")]
    pub(crate) key: Option<PathBuf>,
}

/// Arguments of `anchor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Anchor {
    /// The file of the key [default: ~/.config/interlock/anchor.key]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Print the public key instead, for those who check anchors elsewhere
    #[arg(long)]
    pub(crate) public_key: bool,
}

/// Arguments of `gc`.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep what is younger: it may belong to a record about to be written
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub(crate) older_than: u64,
    /// Forget the snapshots of runs that ended longer ago than this; what they wrote cannot be undone any more
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) snapshots_older_than: u64,
}

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// A built-in machine
    #[arg(value_name = "M")]
    pub(crate) machine: String,
    /// Write over a machine of the project
    #[arg(long)]
    pub(crate) force: bool,
}

/// Arguments of `evidence`.
#[derive(Debug, clap::Args)]
pub(crate) struct Evidence {
    /// A run, to list its files; or a file's hash (its beginning is enough), to print it
    #[arg(value_name = "R|HASH")]
    pub(crate) what: String,
    /// Print the run's file of this name; the last one if several records have one
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The file of this record
    #[arg(long, value_name = "SEQ", requires = "name")]
    pub(crate) record: Option<u64>,
}

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Write one page per command into this folder, instead of the first page to stdout
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
