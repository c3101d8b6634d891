//! Opens text in the person's editor: `$VISUAL`, `$EDITOR`, or `vi`.
//!
//! The form's standard output is a socket, so the editor is given the terminal itself. If the form is closed from outside, the editor is ended with it.

#![expect(
    clippy::disallowed_methods,
    reason = "it opens the terminal of the person, and starts a shell that no other program can have put there"
)]

use std::{
    fs::OpenOptions,
    io::Write as _,
    process::Command,
    sync::atomic::{AtomicI32, Ordering},
};

use inquire::InquireError;
use interlock_beneath::programs;
use rustix::process::{Pid, Signal, kill_process};

/// The process id of the open editor; 0 if none is open.
static OPEN: AtomicI32 = AtomicI32::new(0);

/// Lets the person edit a text and returns it as they saved it.
pub(crate) fn edit(text: &str, suffix: &str) -> Result<String, InquireError> {
    let mut file = tempfile::Builder::new().prefix("interlock-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let shell = programs::find("sh", &[]).ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))?;
    let mut command = Command::new(shell);
    // The shell looks for the editor in this path, and so does the editor for others.
    command.env("PATH", programs::search_path(&[]));
    command.arg("-c").arg(format!("{} \"$1\"", named())).arg("sh").arg(file.path());
    let mut editor = command.stdin(terminal.try_clone()?).stdout(terminal).spawn()?;
    OPEN.store(i32::try_from(editor.id()).unwrap_or_default(), Ordering::SeqCst);
    let ended = editor.wait();
    OPEN.store(0, Ordering::SeqCst);
    if !ended?.success() {
        crate::output::tell(&format!(
            "The editor `{}` failed; the text is unchanged. Set $EDITOR to another editor if necessary.",
            named()
        ));
        return Ok(text.to_owned());
    }
    Ok(std::fs::read_to_string(file.path())?)
}

/// Ends the open editor, if there is one.
pub(crate) fn end() {
    if let Some(pid) = Pid::from_raw(OPEN.load(Ordering::SeqCst)) {
        let _ = kill_process(pid, Signal::TERM);
    }
}

fn named() -> String {
    let named = ["VISUAL", "EDITOR"].iter().filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| "vi".to_owned())
}
