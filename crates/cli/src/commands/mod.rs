//! The commands: one line each here, one file each beside this one.

mod check;
mod conform;
mod describe;
mod draw;
mod import;
mod machines;
mod schema;

use crate::{Exit, args::Command, failure::Failure, output::Output};

/// What a command gives.
type Outcome = Result<Exit, Failure>;

/// Runs a command.
pub(crate) fn run(command: Command, output: &Output) -> Outcome {
    match command {
        Command::Machines => machines::run(output),
        Command::Describe { machine } => describe::run(&machine, output),
        Command::Check(args) => check::run(&args, output),
        Command::Draw(args) => draw::run(&args, output),
        Command::Import(args) => import::run(&args, output),
        Command::Conform { folder } => conform::run(&folder, output),
        Command::Schema => schema::run(output),
    }
}
