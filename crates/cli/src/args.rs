//! The arguments: every command, what it takes, and the help that `--help` prints.

use std::path::PathBuf;

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

A machine M is the name of a built-in one, of one under .interlock/machines/, or a path to a folder or file.
Exit codes: 0 good, 1 the thing itself failed, 2 bad usage or bad input, 70 a bug in Interlock.";

/// Agents as statecharts: proved before they run.
#[derive(Debug, Parser)]
#[command(name = "interlock", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Args {
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A command: each has a file of its name under `commands/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List machines: built-in ones and the project's own
    Machines,
    /// Say what a machine consists of: states, events, transitions
    Describe {
        /// A name or a path
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
    /// What does not pass is listed, then counted: the last line is `N passed, M failed`. A case that needs what machines do not
    /// have, such as a script engine or other semantics than W3C's, is unsupported: it has neither passed nor failed.
    /// The exit code is 1 if a case failed and 0 if none did, also where some are unsupported.
    Conform {
        /// A folder; folders inside it are looked into
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print the JSON Schema of machine files
    Schema,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Names or paths; without any, every machine that `machines` lists
    #[arg(value_name = "M")]
    pub(crate) machines: Vec<String>,
    /// Draw every counterexample into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) draw: Option<PathBuf>,
}

/// Arguments of `draw`.
#[derive(Debug, clap::Args)]
pub(crate) struct Draw {
    /// A name or a path
    #[arg(value_name = "M")]
    pub(crate) machine: String,
    /// What to write
    #[arg(long, value_enum, default_value_t = Drawing::Svg)]
    pub(crate) format: Drawing,
    /// Colours of an SVG
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    pub(crate) theme: Theme,
    /// Where to write it, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What a machine can be drawn as.
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

/// Colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
    /// As the reader's system says
    Auto,
}

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// What to read
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Its format, where name and text do not tell
    #[arg(long, value_enum)]
    pub(crate) from: Option<From>,
    /// Where to write the machine file, instead of stdout: a folder (gets machine.yaml) or a file
    #[arg(short, long, value_name = "DIR/FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What a machine can be made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub(crate) enum From {
    Scxml,
    Xstate,
    Mermaid,
}
