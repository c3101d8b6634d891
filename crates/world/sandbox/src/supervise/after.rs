//! Stores the changes of a program if Interlock cannot: it may have been killed while the program ran, or between the
//! program's end and the record of it.
//!
//! Only the time directly after the program's end distinguishes its changes from later changes of a person. So the
//! supervisor waits until Interlock reports that it has stored them, and runs the order's command if Interlock is gone.

use std::{
    io::Read,
    net::Shutdown,
    os::unix::net::UnixStream,
    process::{Command, Stdio},
};

use crate::wire::{After, KEPT};

/// Waits for the report of Interlock, and runs the command if it does not arrive.
pub(super) fn see_to(control: &mut UnixStream, after: Option<After>) {
    let Some(after) = after else { return };
    // The reader of the reports sees their end.
    let _ = control.shutdown(Shutdown::Write);
    if !is_kept(control) {
        run(&after);
    }
}

/// Returns true if Interlock reports that it has stored the changes, and false if it is gone.
fn is_kept(control: &mut UnixStream) -> bool {
    let (mut said, mut part) = (Vec::new(), [0; 64]);
    loop {
        match control.read(&mut part) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return false,
            Ok(length) => said.extend_from_slice(&part[..length]),
        }
        if said.windows(KEPT.len()).any(|window| window == KEPT) {
            return true;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "Interlock has named its own file")]
fn run(after: &After) {
    let Some((program, arguments)) = after.words.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(after.env.iter().map(|(name, value)| (name, value)));
    // If the command fails, the process that resumes the run finds no stored changes and asks a person.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
