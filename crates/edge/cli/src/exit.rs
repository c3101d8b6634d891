//! Exit codes. Scripts rely on them: codes are added, never changed.

use std::process::ExitCode;

use interlock_journal::Phase;

/// The result of a command as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The command did what was requested.
    Good,
    /// The operation failed: a property is falsified, a case does not conform, a run ended in failure.
    Failed,
    /// The arguments or the input are invalid.
    BadInput,
    /// The run was aborted.
    Aborted,
    /// A run waits for a person, or was left before its end.
    Waiting,
    /// A run ended with a result about which something was not shown.
    Incomplete,
    /// The program panicked because of a bug in Interlock.
    Bug,
    /// The reader of the output went away before the command could know its result.
    Unread,
}

impl Exit {
    /// Returns the number that the process exits with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Failed => 1,
            Exit::BadInput => 2,
            Exit::Aborted => 3,
            Exit::Waiting => 4,
            Exit::Incomplete => 5,
            Exit::Bug => 70,
            // The code of a program that SIGPIPE ended, which scripts know.
            Exit::Unread => 141,
        }
    }
}

/// The exit code of a command that follows a run.
impl From<Phase> for Exit {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Succeeded => Exit::Good,
            Phase::Incomplete => Exit::Incomplete,
            Phase::Failed => Exit::Failed,
            Phase::Aborted => Exit::Aborted,
            Phase::Active | Phase::Waiting | Phase::Paused => Exit::Waiting,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
