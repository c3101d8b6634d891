//! The command line of Interlock.
//!
//! Each command has a file under `commands/`, named after it. A command reads its arguments, calls the other crates,
//! and writes data to stdout and messages to stderr. All commands share the arguments (`args`), the output (`output`),
//! failures (`failure`), and the panic hook (`bug`).
//!
//! Several commands need the verdict of `check` on a machine; it is computed in one place (`proof`).
//!
//! Commands about runs also share the store (`store`), the reading of a run's records as they are added (`follow`), and
//! the code that continues a run and shows its progress (`drive`).
//!
//! This crate decides nothing about machines. Start reading at `args.rs`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]
// These macros panic if the reader of a stream is gone. `output` is the one place that writes.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod about;
mod again;
mod agents;
mod anchor;
mod applied;
mod args;
pub mod bug;
mod closing;
mod coder;
mod columns;
mod commands;
mod complete;
mod compose;
mod continuation;
mod dialog;
mod drive;
mod escape;
mod exit;
mod failure;
mod family;
mod form;
mod given;
mod join;
mod machine;
mod meaning;
mod notes;
mod output;
mod outside;
mod overdue;
mod page;
mod planning;
mod progress;
mod proof;
mod result;
mod sample;
mod saved;
mod scenario;
mod services;
mod store;
mod synonym;
mod table;
mod typed;
mod verification;
mod waiting;
mod why;
mod width;
mod worktree;

use std::{ffi::OsString, process::ExitCode};

use interlock_follow as follow;

pub use dialog::entry as form_entry;
pub use exit::Exit;

/// Runs the command that the arguments name and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if complete::answer(&arguments) {
        return Exit::Good.into();
    }
    let args = match args::Args::read(arguments) {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    let output = output::Output::new(args.json);
    match commands::run(args.command, &output) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.tell(&output).into(),
    }
}

/// Prints help, the version or a usage error. Only a usage error is bad input. Help that cannot be written is a failure,
/// unless its reader went away.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        _ if error.use_stderr() => Exit::BadInput.into(),
        Err(write) if write.kind() != std::io::ErrorKind::BrokenPipe => Exit::Failed.into(),
        _ => Exit::Good.into(),
    }
}
