//! The first process of a program's PID namespace. It starts the program, reaps orphans and reports how the program
//! ended.
//!
//! It is confined like the program. If the program gains control of it, the only gain is a false exit code. When this
//! process ends, the kernel ends every process in the namespace.

use std::{
    fs::File,
    os::unix::{net::UnixStream, process::CommandExt},
    process::{Child, ExitCode},
};

use rustix::{
    io::Errno,
    process::{DumpableBehavior, Pid, WaitOptions, WaitStatus, set_dumpable_behavior, wait},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

use super::{Said, command, ready};
use crate::wire;

/// Becomes the first process of the namespaces that the previous stage has created.
pub(crate) fn main() -> ExitCode {
    super::with_channel(|channel| {
        if let Err(error) = super::namespaces::settle() {
            wire::send(channel, &Said::NotSettled { why: error.to_string() })?;
            return Ok(());
        }
        wire::send(channel, &Said::Settled)?;
        let (order, temp) = ready(channel, true)?;
        // No process inside can trace this process or read its memory.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        // The program gets its own process group, so that it can signal the whole group without this process.
        let program = command(&order, &temp)?.process_group(0).spawn()?;
        let_go()?;
        attend(channel, &program);
        Ok(())
    })
}

/// Closes the inherited output, so that only the program holds it and its readers see the end of it.
fn let_go() -> std::io::Result<()> {
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(&nowhere)?;
    Ok(dup2_stderr(&nowhere)?)
}

/// Reaps processes until none is left, and reports the end of the program.
fn attend(channel: &mut UnixStream, program: &Child) {
    let program = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == program => {
                // If the supervisor is gone, the report has no receiver.
                let _ = wire::send(channel, &exited(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn exited(status: WaitStatus) -> Said {
    Said::Exited { code: status.exit_status(), signal: status.terminating_signal() }
}
