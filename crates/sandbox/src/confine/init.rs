//! The first process of a program's PID namespace: it starts the program, buries orphans, and says how the program ended.
//!
//! It is confined like the program. Should the program get at it, it gains nothing but a false exit code. When this process ends, the kernel ends
//! everything in the namespace.

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

/// Becomes the first process of the namespaces that the stage before has made.
pub(crate) fn main() -> ExitCode {
    super::with_channel(|channel| {
        if let Err(error) = super::namespaces::settle() {
            wire::send(channel, &Said::NotSettled { why: error.to_string() })?;
            return Ok(());
        }
        wire::send(channel, &Said::Settled)?;
        let (order, temp) = ready(channel, true)?;
        // Nobody inside can trace it or read its memory.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        // A group of its own, so that it can signal all of it without its parent.
        let program = command(&order, &temp)?.process_group(0).spawn()?;
        let_go()?;
        attend(channel, &program);
        Ok(())
    })
}

/// The output belongs to the program alone: whoever reads it sees its end.
fn let_go() -> std::io::Result<()> {
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(&nowhere)?;
    Ok(dup2_stderr(&nowhere)?)
}

/// Until nobody is left.
fn attend(channel: &mut UnixStream, program: &Child) {
    let program = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == program => {
                // Where nobody listens any more there is nobody to tell.
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
