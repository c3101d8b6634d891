//! The command that keeps a workspace for a supervisor, by itself: for programs that cannot be their own, as test processes.

use std::process::ExitCode;

fn main() -> ExitCode {
    interlock_workspace::entry(std::env::args_os()).unwrap_or_else(|| {
        eprintln!("this program is started by others; see docs/workspace.md");
        ExitCode::from(2)
    })
}
