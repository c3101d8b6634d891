//! Starts a launcher, and recognizes the supervisor process that it becomes.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::SUPERVISE;

/// A binary whose `main` calls [`crate::entry`] before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    program: PathBuf,
    keeper: PathBuf,
}

impl Launcher {
    /// Uses another binary as the launcher.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Launcher { keeper: program.clone(), program }
    }

    /// Uses another binary for [`crate::LaunchOrder::after`].
    #[must_use]
    pub fn with_keeper(mut self, keeper: impl Into<PathBuf>) -> Self {
        self.keeper = keeper.into();
        self
    }

    /// Returns the binary that a supervisor calls to store the changes of a program.
    pub fn keeper(&self) -> &Path {
        &self.keeper
    }

    /// The command that starts it with nothing to do yet.
    #[expect(clippy::disallowed_methods, reason = "it is the file of this process, or the one that a test names")]
    pub(crate) fn bare(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0("interlock").env_clear().current_dir("/");
        command
    }

    /// The command that starts it. Its stdin is to be one end of a socket, over which it is given an [`crate::LaunchOrder`], then or later: it gets ready
    /// meanwhile, and ends when the socket closes.
    pub fn command(&self) -> Command {
        let mut command = self.bare();
        command.arg(SUPERVISE);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Uses the current binary, even if its file was replaced since.
impl Default for Launcher {
    fn default() -> Self {
        Launcher::at("/proc/self/exe")
    }
}

/// Returns true if a process is the supervisor of the programs with this mark.
pub fn is_supervisor_of(pid: i32, mark: &Path) -> bool {
    let is_supervisor = || {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(SUPERVISE.as_bytes())
    };
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end() == name_of(mark) && is_supervisor()
}

/// Returns the process name that a supervisor takes when it receives an order. It has the maximum length of a process
/// name and differs for every mark.
pub(crate) fn name_of(mark: &Path) -> String {
    // FNV-1a, so that all versions of this program compute the same name.
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = mark.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("il-{:012x}", hash >> 16)
}
