//! `interlock man`: manual pages, generated from the argument parser.

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::Outcome;
use crate::{Exit, args, failure::Failure, output::Output};

/// Prints the main manual page, or writes the pages of all commands.
pub(crate) fn run(args: &args::Man, output: &Output) -> Outcome {
    let command = args::Args::command().disable_help_subcommand(true);
    match &args.out {
        None => {
            let mut text = Vec::new();
            Man::new(command).render(&mut text)?;
            output.data(&String::from_utf8_lossy(&text))?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
            clap_mangen::generate_to(command, folder).map_err(|error| Failure::file("write to", folder, &error))?;
            output.talk(&format!("wrote manual pages to {}\n", folder.display()));
        }
    }
    Ok(Exit::Good)
}
