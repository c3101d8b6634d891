//! Exit codes. Scripts rely on them: codes are added, never changed.

use std::process::ExitCode;

/// How a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// It did what was asked.
    Good,
    /// The thing itself failed: a property falsified, a case that does not conform.
    Failed,
    /// Bad usage or bad input.
    BadInput,
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
            Exit::Bug => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
