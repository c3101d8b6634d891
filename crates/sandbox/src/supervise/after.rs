//! Keeps what a program left if Interlock does not do it: Interlock may have been killed while the program ran, or between its end and the record of it.
//!
//! Only the moment after the program's end tells its changes from those that a person makes later. So the supervisor waits until Interlock says that
//! it has kept them, and runs the order's command if Interlock is gone instead.

use std::{
    io::Read,
    net::Shutdown,
    os::unix::net::UnixStream,
    process::{Command, Stdio},
};

use crate::wire::{After, KEPT};

/// Waits for Interlock's word, and runs the command if it does not come.
pub(super) fn see_to(control: &mut UnixStream, after: Option<After>) {
    let Some(after) = after else { return };
    // Whoever reads the reports sees their end.
    let _ = control.shutdown(Shutdown::Write);
    if !is_kept(control) {
        run(&after);
    }
}

/// Whether Interlock says that it has kept what there was; otherwise it is gone.
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

fn run(after: &After) {
    let Some((program, arguments)) = after.words.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(after.env.iter().map(|(name, value)| (name, value)));
    // If it fails, whoever takes the run up finds nothing kept and asks a person.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
