//! Starts this very program another time, even if a program of a run has replaced its file since: the file may be in a
//! workspace, as when Interlock is built there.

use std::{os::unix::process::CommandExt as _, process::Command};

/// Returns the command that starts this program.
#[expect(clippy::disallowed_methods, reason = "the file is the one of this process, whatever is at its path")]
pub(crate) fn command() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("interlock");
    command
}
