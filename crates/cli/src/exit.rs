//! Exit codes. Scripts rely on them: codes are added, never changed.

use std::process::ExitCode;

use interlock_journal::Phase;

/// How a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// It did what was asked.
    Good,
    /// The thing itself failed: a property falsified, a case that does not conform, a run that ended in failure.
    Failed,
    /// Bad usage or bad input.
    BadInput,
    /// A run was aborted.
    Aborted,
    /// A run waits for a person, or was left before its end.
    Waiting,
    /// A bug in Interlock.
    Bug,
}

impl Exit {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Failed => 1,
            Exit::BadInput => 2,
            Exit::Aborted => 3,
            Exit::Waiting => 4,
            Exit::Bug => 70,
        }
    }
}

/// How a command that follows a run ends.
impl From<Phase> for Exit {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Succeeded => Exit::Good,
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
