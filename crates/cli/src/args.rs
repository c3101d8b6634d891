//! The arguments: every command, its options, and the text that `--help` prints.

mod kb;
mod runs;

use std::path::PathBuf;

pub(crate) use kb::*;
pub(crate) use runs::*;

use clap::{Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  interlock machines                       what there is
  interlock describe coder                 its states, events and transitions
  interlock check                          prove every machine, built-in and the project's own
  interlock check ./my-machine             prove one folder's machine
  interlock draw brain -o brain.svg        a picture
  interlock draw brain --format mermaid    the same for a Markdown file
  interlock import door.scxml -o door/     a machine from SCXML, XState JSON or Mermaid
  interlock run coder -s goal='fix it'     start a run and follow it until it ends or waits
  interlock send R USER_CONFIRM            tell a run what it waits for
  interlock trace R                        what it did, and why

A machine M is the name of a built-in one, of one under .interlock/machines/, or a path to a folder or file.
A run R is its name, or as much of its beginning as is unlike any other's. Runs are kept in $INTERLOCK_HOME.
Exit codes: 0 good, 1 the thing itself failed, 2 bad usage or bad input, 3 a run was aborted, 4 a run waits for a person \
(or was left before its end), 70 a bug in Interlock.";

/// Agents as statecharts: proved before they run.
#[derive(Debug, Parser)]
#[command(name = "interlock", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Args {
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The command to run
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command. Each has a file of the same name under `commands/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List machines: built-in ones and the project's own
    Machines,
    /// Say what a machine consists of: states, events, transitions
    Describe {
        /// The name or the path of a machine
        #[arg(value_name = "M")]
        machine: String,
    },
    /// Prove what machines promise, and how much they can do at most
    Check(Check),
    /// Draw a machine, or write it in another format
    Draw(Draw),
    /// Make a machine file from another format
    Import(Import),
    /// Run SCXML cases: each NAME.scxml with its NAME.json
    ///
    /// The JSON is `{initialConfiguration, events: [{after, event: {name, data}, nextConfiguration}]}`: all active atomic states, at the
    /// start and after each event; `after` is in milliseconds of virtual time. Without events, a case passes if it ends in a final
    /// state called `pass`.
    ///
    /// Cases that do not pass are listed, then counted: the last line is `N passed, M failed`. A case that needs a
    /// feature that machines do not have, such as a script engine or semantics other than W3C's, is unsupported: it has
    /// neither passed nor failed. The exit code is 1 if a case failed and 0 if none did, even if some are unsupported.
    Conform {
        /// A directory; its subdirectories are searched too
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print the JSON Schema of machine files
    Schema,
    /// Start a run and follow it until it ends or waits
    Run(Run),
    /// List runs
    Runs(Runs),
    /// Show where a run stands, what it holds and what it takes
    Show(OneRun),
    /// Say what a run did, and why
    Trace(OneRun),
    /// Follow a run that another process moves
    Watch(OneRun),
    /// Write down what a run did: Markdown, JSON, or a page with the machine's picture
    Report(Report),
    /// Send an event to a run, then follow it
    Send(Send),
    /// Send the event by which a run's machine is aborted
    Abort(Abort),
    /// Make a run stand still
    Pause(OneRun),
    /// Let a paused run go on, or take up one that was left
    Resume(Resume),
    /// Grant a permission that policy asks about
    ///
    /// A SCOPE is a permission and its object, as named by an attempt that ended with CONFIRMATION_NEEDED, such as
    /// 'proc.exec:npm install left-pad', 'fs.write:docs/**' or 'destroy:git clean -fd'. Without --for and --uses it can
    /// be used once. A run that waits for exactly these permissions continues at once, and is followed as by `send`.
    Grant(Grant),
    /// Show a run as it was after one of its records
    Replay(Replay),
    /// Make a new run from the first records of another
    Fork(Fork),
    /// Take back what a run wrote
    ///
    /// Undoes writes path by path, newest first; without a choice, all writes of the run. If a path was changed after
    /// the run wrote it, its content is shown as it was before, as the run left it and as it is now; then nothing is
    /// changed, unless such paths are skipped. An undo is recorded in the run and can be undone like any other write.
    Undo(Undo),
    /// Bring the result of a run's worktree into the checkout
    ///
    /// If the checkout is still at the commit at which the worktree began, its branch moves forward to the commits of
    /// the run; other changes become uncommitted ones. If a file has uncommitted changes in both, nothing is changed.
    Apply(OneRun),
    /// List the snapshots of a run, or copy one
    ///
    /// A snapshot is the workspace as it was: before each attempt that may write, after it, and before a recovery or an undo.
    Snapshots(Snapshots),
    /// Check that runs are what was written
    ///
    /// Besides the runs, the store as a whole is checked: no run and no record may be missing. With --anchor, every
    /// record that existed when the anchor was made must still be there unchanged.
    Verify(Verify),
    /// Print the signed end of the store's chain, to be kept elsewhere
    ///
    /// The key is created at the first use, outside the store. `anchor.toml` in $INTERLOCK_HOME delivers anchors
    /// automatically: `every` (records), `file` (appended to) and `command` (gets a line on its standard input).
    Anchor(Anchor),
    /// List the files a run left behind, or print one
    Evidence(Evidence),
    /// Remove files that no run refers to
    Gc(Gc),
    /// Show what matters in a repository: files, and the symbols that a goal is about
    ///
    /// Reads the files that git tracks or would track; vendored, generated, binary and huge files are only counted. The
    /// symbols that files define are cached in $INTERLOCK_HOME/maps.
    Map(Map),
    /// List what machines can have done
    Activities,
    /// List boards and other things that one run at a time may use: who has them, and who waits
    Resources,
    /// Find, show and write out what runs have learned
    Kb(Kb),
    /// Copy a built-in machine into the project, to be changed
    Init(Init),
    /// Say whether everything that runs need is there
    Doctor,
    /// Print the completions of a shell
    Completions {
        /// The shell to print completions for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man(Man),
}

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Names or paths; without any, every machine that `machines` lists
    #[arg(value_name = "M")]
    pub(crate) machines: Vec<String>,
    /// Draw every counterexample into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) draw: Option<PathBuf>,
}

/// The arguments of `draw`.
#[derive(Debug, clap::Args)]
pub(crate) struct Draw {
    /// The name or the path of a machine
    #[arg(value_name = "M", required_unless_present = "run")]
    pub(crate) machine: Option<String>,
    /// Draw only the states that this run visited and the transitions that it took, as SVG or Mermaid
    #[arg(long, value_name = "R", conflicts_with = "machine")]
    pub(crate) run: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Drawing::Svg)]
    pub(crate) format: Drawing,
    /// The colours of an SVG
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    pub(crate) theme: Theme,
    /// The file to write instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The formats in which a machine can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum Drawing {
    Svg,
    Mermaid,
    Dot,
    Scxml,
    Xstate,
    Promela,
}

/// The arguments of `map`.
#[derive(Debug, clap::Args)]
pub(crate) struct Map {
    /// The directory [default: the current directory]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// The goal, in words; files that it names come first
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// The maximum length of the map, in tokens of about four bytes
    #[arg(long, value_name = "N", default_value_t = interlock_codemap::TOKENS)]
    pub(crate) tokens: usize,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    /// Dark lines on a light background
    Light,
    /// Light lines on a dark background
    Dark,
    /// The colour scheme of the reader's system
    Auto,
}

/// The arguments of `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// The file to read
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the file, if its name and content do not identify it
    #[arg(long, value_enum)]
    pub(crate) from: Option<From>,
    /// The machine file to write instead of stdout: a directory (gets machine.yaml) or a file
    #[arg(short, long, value_name = "DIR/FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The formats that a machine can be imported from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum From {
    Scxml,
    Xstate,
    Mermaid,
}
