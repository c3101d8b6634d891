//! How a launcher is called, and recognised.

use std::{
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::SUPERVISE;

/// A binary whose `main` calls [`crate::entry`] before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher(PathBuf);

impl Launcher {
    /// Another binary.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Launcher(program.into())
    }

    /// The command that starts it. Its stdin is to be one end of a socket, over which it is given an [`crate::Order`]. The mark says whose it
    /// is, to those who look for it with [`is_supervisor_of`].
    pub fn command(&self, mark: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.arg0("interlock").arg(SUPERVISE).arg(mark).env_clear().current_dir("/");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// This very binary, also after its file was replaced.
impl Default for Launcher {
    fn default() -> Self {
        Launcher("/proc/self/exe".into())
    }
}

/// Whether a process with this command line, as `/proc` gives it, looks after the programs of a mark.
pub fn is_supervisor_of(command_line: &[u8], mark: &Path) -> bool {
    let mut words = command_line.split(|byte| *byte == 0).skip(1);
    words.next() == Some(SUPERVISE.as_bytes()) && words.next() == Some(mark.as_os_str().as_encoded_bytes())
}
