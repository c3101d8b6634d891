//! The binary `interlock`, which calls the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    // If this process is a sandbox launcher, it does nothing else.
    if let Some(exit) = interlock_sandbox::entry(std::env::args_os()) {
        return exit;
    }
    // The same holds if a supervisor started it to keep the files that an attempt left.
    if let Some(exit) = interlock_workspace::entry(std::env::args_os()) {
        return exit;
    }
    // The same holds if this process is a form.
    if let Some(exit) = interlock_cli::form_entry(std::env::args_os()) {
        return exit;
    }
    interlock_cli::bug::watch();
    interlock_cli::run(std::env::args_os())
}
