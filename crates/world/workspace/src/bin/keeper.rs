//! The command that stores a workspace for a supervisor, as a separate program. Test processes use it because they
//! cannot act as this command themselves.

use std::process::ExitCode;

fn main() -> ExitCode {
    interlock_workspace::entry(std::env::args_os()).unwrap_or_else(|| {
        eprintln!("Interlock starts this program itself; see docs/workspace.md");
        ExitCode::from(2)
    })
}
