//! The arguments: every command, its options, and the text that `--help` prints.

mod coder;
mod groups;
mod kb;
#[cfg(test)]
mod reference;
mod runs;
mod server;

use std::path::PathBuf;

pub(crate) use coder::*;
pub(crate) use kb::*;
pub(crate) use runs::*;
pub(crate) use server::*;

use clap::{Parser, Subcommand, ValueEnum};

use crate::complete;

const EXAMPLES: &str = "\
Examples:
  interlock machines                       list the machines
  interlock describe coder                 show a machine's states, events and transitions
  interlock new ship                       create a machine of your own, with comments and a test
  interlock check                          prove all machines, built-in and the project's own
  interlock check ./my-machine             prove the machine in a directory
  interlock draw brain -o brain.svg        draw a machine
  interlock draw brain --format mermaid    draw it for a Markdown file
  interlock import door.scxml -o door/     convert a machine from SCXML, XState JSON or Mermaid
  interlock coder 'fix the failing test'   talk with the coding agent
  interlock run brain -s task='fix it'     start a run and follow it until it ends or waits
  interlock send R USER_CONFIRM            send an event to a waiting run
  interlock trace R                        show each transition of a run and its reason

M is the name of a built-in machine or of one under .interlock/machines/, or the path of a directory or file.
R is the name of a run, or a prefix that no other run's name has. Runs are stored in $INTERLOCK_HOME.

Exit codes: 0 success, 1 the run or the check failed, 2 bad usage or bad input, 3 the run was aborted, 4 the run waits \
for a person (or was left before its end), 5 the run ended incomplete, 70 a bug in Interlock.";

/// Agents as statecharts: proved before they run.
#[derive(Debug, Parser)]
#[command(name = "interlock", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Args {
    /// Print JSON instead of text
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
    /// Show the states, events and transitions of a machine
    Describe {
        /// The name or the path of a machine
        #[arg(value_name = "M", add = complete::machines())]
        machine: String,
    },
    /// Prove the properties of machines and the bounds on their work
    Check(Check),
    /// Draw a machine, or convert it to another format
    Draw(Draw),
    /// Convert a machine from another format
    Import(Import),
    /// Run SCXML conformance cases: each NAME.scxml with its NAME.json
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
    /// Talk with the coding agent: the machine `coder` on a terminal
    ///
    /// A short form of `run coder`. On a terminal it is a conversation: /help lists its commands, Ctrl-C cancels the turn,
    /// Ctrl-C twice leaves. Without a terminal, or with --once or --json, it plays one turn and the exit code says how
    /// the turn ended: 0 completed, 1 blocked, refused or not verified, 3 cancelled, 4 a question waits for a person.
    Coder(Coder),
    /// Serve the coding agent to an editor: the Agent Client Protocol on stdin and stdout
    ///
    /// Editors start this command themselves. Each session is a run of the machine `coder` in the directory that the
    /// editor names; permissions that the machine asks for are asked in the editor.
    Acp,
    /// List runs
    Runs(Runs),
    /// Show the state of a run, its data, and the events that it accepts
    Show(OneRun),
    /// Show each transition of a run, with its reason and evidence
    Trace(OneRun),
    /// Follow a run that another process is running
    Watch(OneRun),
    /// Show all files that a run has changed, with their counts of lines and their patches
    ///
    /// The directory before the run's first write is compared with the directory now, or, if the run has ended, with the
    /// directory after its last write. Secrets are hidden.
    Diff(Diff),
    /// Write a report about a run: Markdown, JSON, or an HTML page with a picture
    Report(Report),
    /// Send an event to a run, then follow it
    Send(Send),
    /// Abort a run: send the event that leads to its machine's aborted end
    Abort(Abort),
    /// Pause a run
    Pause(OneRun),
    /// Continue a paused run, or a run that no process is running
    Resume(Resume),
    /// Show the queue of a `prd` run, or change the status of a task
    ///
    /// Prints the state, the number of tasks that are done, pending and blocked, the last error, notes and history: the data of
    /// `.agent/memory/active_context.md`. `update_progress` sends the event of that name.
    Context(Context),
    /// Grant a permission that policy asks about
    ///
    /// A SCOPE is a permission and its object, as named by an attempt that ended with CONFIRMATION_NEEDED, such as
    /// 'proc.exec:npm install left-pad', 'fs.write:docs/**' or 'destroy:git clean -fd'. Without --for and --uses it can
    /// be used once. A run that waits for exactly these permissions continues at once, and is followed as by `send`.
    ///
    /// A permission that was confirmed with the scope `workspace` lasts until it is revoked: --list and --revoke.
    Grant(Grant),
    /// Show the state of a run after one of its records
    Replay(Replay),
    /// Create a new run from the first records of another
    Fork(Fork),
    /// Undo the file changes of a run
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
    /// List the workspace snapshots of a run, or copy one
    ///
    /// A snapshot is the workspace as it was: before each attempt that may write, after it, and before a recovery or an undo.
    Snapshots(Snapshots),
    /// Verify that no record was changed or lost
    ///
    /// Besides the runs, the store as a whole is checked: no run and no record may be missing. With --anchor, every
    /// record that existed when the anchor was made must still be there unchanged.
    Verify(Verify),
    /// Print a signed anchor of the store, to be kept on another computer
    ///
    /// The key is created at the first use, outside the store. `anchor.toml` in $INTERLOCK_HOME delivers anchors
    /// automatically: `every` (records), `file` (appended to) and `command` (gets a line on its standard input).
    Anchor(Anchor),
    /// List the evidence files of a run, or print one
    Evidence(Evidence),
    /// Query the store with SQL, read-only
    ///
    /// The tables are those of the store and the views brain_sessions, brain_rounds and brain_executions. The function
    /// evidence(hash) returns the content of an evidence file.
    Sql(Sql),
    /// Remove stored files that no run refers to
    Gc(Gc),
    /// Show a map of a repository: its files, and the symbols that matter for a goal
    ///
    /// Reads the files that git tracks or would track; vendored, generated, binary and huge files are only counted. The
    /// symbols that files define are cached in $INTERLOCK_HOME/maps.
    Map(Map),
    /// List the coding agents of agents.toml
    Agents,
    /// List the available activities, or show the arguments and signals of one
    Activities {
        /// The name of an activity
        #[arg(value_name = "NAME", add = complete::activities())]
        name: Option<String>,
    },
    /// List shared resources such as boards: the run that holds each, and the runs that wait
    Resources,
    /// Search, show and export the knowledge base of earlier runs
    Kb(Kb),
    /// Keep runs moving, fire timers, and show everything in a browser
    ///
    /// Runs of processes that have ended are taken up, due timers fire within a second, and runs that are started on the
    /// page or through the API run in this process. Only this computer can reach the server; the link that is printed
    /// logs a browser in once.
    Serve(Serve),
    /// Let a coding agent or an editor use Interlock: the Model Context Protocol on stdin and stdout
    ///
    /// The tools list and check machines, start runs in the given directories, and read runs. A model can never answer for
    /// a person: that is done on the page or with `interlock send`.
    Mcp(Mcp),
    /// List, add and remove the tokens with which programs use the server
    Token(Token),
    /// Copy a built-in machine into the project, to change it
    Init(Init),
    /// Create a small commented machine with a test in the project
    ///
    /// Writes .interlock/machines/NAME/machine.yaml and scenarios under tests/, which `interlock test NAME` runs.
    New {
        /// The name of the new machine
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Serve /planning and /generating for clients of the Planning/Generating protocol
    ///
    /// Answers with the judges of judges.toml, or with rules if there are none. Clients must send the token as
    /// `Authorization: Bearer TOKEN`. It is $INTERLOCK_NOTEBOOK_TOKEN, or a new one that is printed at the start.
    NotebookServer(NotebookServer),
    /// Run the scenarios of machines, in virtual time and without starting any activity
    ///
    /// A scenario is a file in the directory tests/ beside machine.yaml: a list of `steps`, each with `wait` (a
    /// duration), `send` (a signal or an event, with `data`) and `expect` (the active states), and the `outcome`.
    Test {
        /// Names or paths; without any, every machine of the project that has scenarios
        #[arg(value_name = "M", add = complete::machines())]
        machines: Vec<String>,
    },
    /// Explain an error code, such as E0211
    Explain {
        /// The code; without one, all codes are listed
        #[arg(value_name = "CODE", add = complete::codes())]
        code: Option<String>,
    },
    /// Check that the programs, settings and kernel features that runs need are available
    Doctor,
    /// Print the completion script of a shell
    ///
    /// bash: `source <(interlock completions bash)` in ~/.bashrc. zsh: `source <(interlock completions zsh)` in ~/.zshrc.
    /// fish: `interlock completions fish | source` in ~/.config/fish/config.fish.
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: ShellName,
    },
    /// Print the manual page of the program or of one command
    Man(Man),
}

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Names or paths; without any, every machine that `machines` lists
    #[arg(value_name = "M", add = complete::machines())]
    pub(crate) machines: Vec<String>,
    /// Draw each counterexample into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) draw: Option<PathBuf>,
    /// Write the findings in SARIF, for annotations of lines in code review
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
}

/// The arguments of `draw`.
#[derive(Debug, clap::Args)]
pub(crate) struct Draw {
    /// The name or the path of a machine
    #[arg(value_name = "M", required_unless_present = "run", add = complete::machines())]
    pub(crate) machine: Option<String>,
    /// Draw only the states that this run visited and the transitions that it took, as SVG or Mermaid
    #[arg(long, value_name = "R", conflicts_with = "machine", add = complete::runs())]
    pub(crate) run: Option<String>,
    /// The output format
    #[arg(long, alias = "from", value_enum, default_value_t = Drawing::Svg)]
    pub(crate) format: Drawing,
    /// The colours of an SVG
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    pub(crate) theme: Theme,
    /// The file to write instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The shells that can complete arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum ShellName {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl ShellName {
    /// Returns the name of the shell's program.
    pub(crate) fn word(self) -> &'static str {
        match self {
            ShellName::Bash => "bash",
            ShellName::Elvish => "elvish",
            ShellName::Fish => "fish",
            ShellName::Powershell => "powershell",
            ShellName::Zsh => "zsh",
        }
    }
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

/// The arguments of `notebook-server`.
#[derive(Debug, clap::Args)]
pub(crate) struct NotebookServer {
    /// The port on the loopback interface; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 28600)]
    pub(crate) port: u16,
    /// The directory in which tables are looked for [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
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
    #[arg(long, alias = "from", value_enum)]
    pub(crate) format: Option<From>,
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
