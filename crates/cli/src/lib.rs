//! The command line.
//!
//! One file per command under `commands/`, named after it. A command reads its arguments, asks the other crates, and writes:
//! data to stdout, talk to stderr. What every command shares is here: the arguments they have in common (`args`), how they write
//! (`output`), how they fail (`failure`), and what happens when there is a bug (`bug`).
//!
//! Whether `check` accepts a machine is asked by several commands and has one answer (`proof`).
//!
//! Commands about runs share more: the store (`store`), a run read as its records come in (`follow`), and moving one while showing how it
//! goes (`drive`).
//!
//! Nothing about machines is decided here. Start reading at `args.rs`.

mod about;
mod anchor;
mod args;
pub mod bug;
mod commands;
mod compose;
mod dialog;
mod drive;
mod escape;
mod exit;
mod failure;
mod family;
mod follow;
mod form;
mod given;
mod judged;
mod machine;
mod notes;
mod output;
mod outside;
mod overdue;
mod progress;
mod proof;
mod sample;
mod store;
mod table;
mod waiting;
mod why;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

pub use dialog::entry as form_entry;
pub use exit::Exit;

/// Runs the command that the arguments name, and says how it went.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match args::Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    let output = output::Output::new(args.json);
    match commands::run(args.command, &output) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.tell(&output).into(),
    }
}

/// Help and version are no failures; anything else is bad usage. Whoever closed the pipe does not want to read it.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { Exit::BadInput.into() } else { Exit::Good.into() }
}
