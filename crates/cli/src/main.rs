//! The binary `interlock`. What it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Where this is a launcher, nothing else is to be done.
    if let Some(exit) = interlock_sandbox::entry(std::env::args_os()) {
        return exit;
    }
    // The same where a supervisor has it keep what an attempt left.
    if let Some(exit) = interlock_workspace::entry(std::env::args_os()) {
        return exit;
    }
    // The same where it is a form.
    if let Some(exit) = interlock_cli::form_entry(std::env::args_os()) {
        return exit;
    }
    interlock_cli::bug::watch();
    interlock_cli::run(std::env::args_os())
}
