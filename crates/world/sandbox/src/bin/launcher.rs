//! The launcher as a separate program. Test processes use it because they cannot act as the launcher themselves.

use std::process::ExitCode;

fn main() -> ExitCode {
    interlock_sandbox::entry(std::env::args_os()).unwrap_or_else(|| {
        eprintln!("Interlock starts this program itself; see docs/sandbox.md");
        ExitCode::from(2)
    })
}
