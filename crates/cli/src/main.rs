//! The binary `interlock`. What it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    interlock_cli::bug::watch();
    interlock_cli::run(std::env::args_os())
}
