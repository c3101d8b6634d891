//! The launcher by itself, for programs that cannot be their own: test processes, above all.

use std::process::ExitCode;

fn main() -> ExitCode {
    interlock_sandbox::entry(std::env::args_os()).unwrap_or_else(|| {
        eprintln!("this program is started by others; see docs/sandbox.md");
        ExitCode::from(2)
    })
}
