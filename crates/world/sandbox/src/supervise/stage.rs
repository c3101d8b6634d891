//! The process that will start the program. It is started before there is an order, because the kernel needs time to
//! create namespaces.

use std::{
    io::{self, BufReader},
    os::unix::net::UnixStream,
    process::{Command, Stdio},
};

use rustix::{
    fd::OwnedFd,
    process::{Pid, WaitOptions, waitpid},
};

use crate::{CONFINE, PREPARE, confine::Said, wire};

/// A process that waits for its task.
#[derive(Debug)]
pub(super) struct Stage {
    /// The process, a child of this one.
    pub(super) program: Pid,
    /// The channel with its messages.
    pub(super) channel: BufReader<UnixStream>,
    /// True if it is the first process of private namespaces. Otherwise it becomes the program itself.
    pub(super) is_init: bool,
    /// The reason why there are no namespaces.
    pub(super) why_not: Option<String>,
}

impl Stage {
    /// Starts a stage with namespaces, or one without if the kernel does not allow them.
    pub(super) fn prepare() -> io::Result<Self> {
        let mut stage = Self::start(again(PREPARE))?;
        let (mut init, mut settled) = (None, None);
        // Two processes send messages in any order: the one that creates the namespaces, which then ends, and the first
        // one inside.
        while init.is_none() || settled.is_none() {
            match wire::receive(&mut stage.channel) {
                Ok(Said::NotPrepared { why }) => {
                    stage.dismiss();
                    return Self::plain(why);
                }
                Ok(Said::Init { pid }) => init = Pid::from_raw(pid),
                Ok(Said::Settled) => settled = Some(Ok(())),
                Ok(Said::NotSettled { why }) => settled = Some(Err(why)),
                _ => {
                    stage.dismiss();
                    return Self::plain("the processes that create them have ended".into());
                }
            }
        }
        // This process adopts orphans, so it adopts the first process in the namespaces.
        bury(stage.program);
        stage.program = init.unwrap_or(stage.program);
        stage.is_init = true;
        match settled {
            Some(Err(why)) => {
                stage.dismiss();
                Self::plain(format!("/proc cannot be mounted in them: {why}"))
            }
            _ => Ok(stage),
        }
    }

    /// Starts a stage without namespaces, for this reason.
    pub(super) fn plain(why: String) -> io::Result<Self> {
        Ok(Stage { why_not: Some(why), ..Self::start(again(CONFINE))? })
    }

    /// Starts a stage with this command.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let (channel, theirs) = UnixStream::pair()?;
        command.env_clear().stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let child = command.stdin(OwnedFd::from(theirs)).spawn()?;
        let program = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Stage { program, channel: BufReader::new(channel), is_init: false, why_not: None })
    }

    /// Closes the channel, which ends a stage without a task, and waits for its end.
    pub(super) fn dismiss(self) {
        drop(self.channel);
        bury(self.program);
    }
}

/// Returns a command for the current binary, even if its file was replaced since.
#[expect(clippy::disallowed_methods, reason = "it starts the file of this process")]
fn again(stage: &str) -> Command {
    let mut again = Command::new("/proc/self/exe");
    again.arg(stage);
    again
}

fn bury(pid: Pid) {
    while matches!(waitpid(Some(pid), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
}
