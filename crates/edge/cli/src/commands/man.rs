//! `interlock man`: manual pages, generated from the argument parser.

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::Outcome;
use crate::{Exit, args, failure::Failure, output::Output, saved::make_folders};

/// Prints the main manual page or the page of a command, or writes the pages of all commands.
pub(crate) fn run(args: &args::Man, output: &Output) -> Outcome {
    let mut command = args::Args::command().disable_help_subcommand(true);
    match &args.out {
        None => {
            let mut text = Vec::new();
            command.build();
            Man::new(page(&command, &args.command)?).render(&mut text)?;
            output.data(&String::from_utf8_lossy(&text))?;
        }
        Some(folder) => {
            make_folders(folder)?;
            clap_mangen::generate_to(command, folder).map_err(|error| Failure::file("write to", folder, &error))?;
            output.talk(&format!("wrote manual pages to {}\n", folder.display()));
        }
    }
    Ok(Exit::Good)
}

/// Returns the command that the words name, such as `kb search`; without words, the whole program.
fn page(program: &Command, words: &[String]) -> Result<Command, Failure> {
    let mut command = program;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            Failure::bad_input(format!("there is no command `{word}`")).hint("`interlock --help` lists the commands")
        })?;
    }
    Ok(command.clone())
}
