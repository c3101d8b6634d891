//! How a command fails: what happened, then `Hint:` what to do.

use std::{fmt::Display, io, path::Path};

use crate::{Exit, output::Output};

/// Why a command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// Nothing to say where the reader has gone away or the problems have been shown already.
    message: Option<String>,
    hint: Option<String>,
}

impl Failure {
    /// Bad usage or bad input.
    pub(crate) fn bad_input(message: impl Display) -> Self {
        Failure { exit: Exit::BadInput, message: Some(message.to_string()), hint: None }
    }

    /// The thing itself failed.
    pub(crate) fn failed(message: impl Display) -> Self {
        Failure { exit: Exit::Failed, message: Some(message.to_string()), hint: None }
    }

    /// The problems have been shown; nothing more is to be said.
    pub(crate) fn told() -> Self {
        Failure { exit: Exit::BadInput, message: None, hint: None }
    }

    /// What to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// What to do about it, where somebody knows.
    fn maybe_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Whether somebody knows what to do about it.
    pub(crate) fn has_hint(&self) -> bool {
        self.hint.is_some()
    }

    /// A file that could not be read or written.
    pub(crate) fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        Failure::bad_input(format!("cannot {verb} {}: {error}", path.display()))
    }

    /// Says it on stderr and gives the code to end with.
    pub(crate) fn tell(self, output: &Output) -> Exit {
        if let Some(message) = &self.message {
            output.talk(&format!("{} {message}\n", output.red("error:")));
        }
        if let Some(hint) = &self.hint {
            output.talk(&format!("Hint: {hint}\n"));
        }
        self.exit
    }
}

/// Writing to stdout failed. A reader that has closed the pipe has seen enough: that is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure { exit: Exit::Good, message: None, hint: None };
        }
        Failure::bad_input(format!("cannot write the output: {error}"))
    }
}

impl From<interlock_chart::library::Error> for Failure {
    fn from(error: interlock_chart::library::Error) -> Self {
        Failure::bad_input(&error).maybe_hint(error.hint())
    }
}

/// What was asked for is not there or does not fit: bad input. The disk, the lock or the store said no: the thing itself failed.
impl From<interlock_journal::Error> for Failure {
    fn from(error: interlock_journal::Error) -> Self {
        use interlock_journal::Error;
        let failure = match error {
            Error::NoRun(_) | Error::Exists(_) => Failure::bad_input(&error),
            _ => Failure::failed(&error),
        };
        failure.maybe_hint(error.hint())
    }
}

impl From<interlock_runtime::Error> for Failure {
    fn from(error: interlock_runtime::Error) -> Self {
        use interlock_runtime::Error;
        match error {
            Error::Journal(error) => error.into(),
            Error::Refused(refused) => refused.into(),
            Error::Input(_) | Error::Machine(_) | Error::Project(_) | Error::Unproved { .. } => {
                Failure::bad_input(&error).maybe_hint(error.hint())
            }
            Error::State { .. } | Error::NoAnswer { .. } | Error::Undo(_) => {
                Failure::failed(&error).maybe_hint(error.hint())
            }
        }
    }
}

/// With what the run does take, one to a line.
impl From<interlock_runtime::Refused> for Failure {
    fn from(refused: interlock_runtime::Refused) -> Self {
        // What came too late was right when it was asked for: that is a failure, not a mistake.
        let failure = match refused.late.is_empty() {
            true => Failure::bad_input(&refused.why),
            false => Failure::failed(&refused.why),
        };
        if refused.takes.is_empty() {
            return failure;
        }
        let width = refused.takes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line =
            |(name, summary): &(String, String)| format!("\n  {}", format!("{name:<width$}  {summary}").trim_end());
        let lines: String = refused.takes.iter().map(line).collect();
        failure.hint(format!("it takes these now:{lines}"))
    }
}
